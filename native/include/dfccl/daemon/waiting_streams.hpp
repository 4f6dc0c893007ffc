#pragma once
// Streams of the caller's that wait for runs. While one of them waits, the daemon stays: what keeps the driver to
// itself until the device is idle (cudaFree, the loading of a module) waits for that stream too, nothing can be
// launched meanwhile, and a daemon that had left could not come back for what the stream waits for (decision 20).
#include <cstdint>

#include "dfccl/array.hpp"
#include "dfccl/atomics.hpp"
#include "dfccl/sqe.hpp"

namespace dfccl {

/// Counts of runs, which wrap around.
DFCCL_HD constexpr bool isBefore(uint32_t count, uint32_t other) { return static_cast<int32_t>(count - other) < 0; }

struct AwaitedCount {
  uint32_t target;    // a stream goes on when so many runs are over
  uint32_t isListed;  // the place is in WaitingMemory::listed
};

/// Where the platform has streams: in device memory, unless said otherwise, and the leader's, but for `completed`.
struct WaitingMemory {
  Array<Atomic<uint32_t, Scope::device>> completed{};  // [collective's index]: runs over since the rank was made
  Array<AwaitedCount> awaited{};                       // [collective's index]
  Array<uint32_t> listed{};                            // indices of those that may not be reached yet
  uint32_t* listedCount = nullptr;
  Atomic<uint32_t>* mustLeave = nullptr;  // the host's memory: the rank ends, whatever waits
};

/// The leader's view of them.
template <class Rules>
class WaitingStreams {
 public:
  DFCCL_HD explicit WaitingStreams(const WaitingMemory& memory) : m_(memory) {}

  /// A stream is about to wait until so many runs of a collective are over.
  DFCCL_HD DFCCL_COLD void note(uint32_t collective, uint64_t runs) {
    AwaitedCount& awaited = m_.awaited[collective];
    const auto target = static_cast<uint32_t>(runs);
    if (awaited.isListed == 0) {
      awaited = {target, 1};
      m_.listed[(*m_.listedCount)++] = collective;
    } else if (isBefore(awaited.target, target)) {
      awaited.target = target;
    }
  }

  /// Whether any stream waits still.
  DFCCL_HD DFCCL_COLD bool mustStay() const {
    if (!Rules::staysForStreams) return false;
    while (*m_.listedCount != 0) {
      const uint32_t last = m_.listed[*m_.listedCount - 1];
      const uint32_t completed = m_.completed[last].load(order::relaxed);
      if (isBefore(completed, m_.awaited[last].target)) return m_.mustLeave->load(order::relaxed) == 0;
      m_.awaited[last].isListed = 0;
      --*m_.listedCount;
    }
    return false;
  }

 private:
  const WaitingMemory& m_;
};

/// Where there are no streams.
struct NoWaitingStreams {
  DFCCL_HD explicit NoWaitingStreams(const WaitingMemory&) {}
  DFCCL_HD static void note(uint32_t, uint64_t) {}
  DFCCL_HD static constexpr bool mustStay() { return false; }
};

}  // namespace dfccl

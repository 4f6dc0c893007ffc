#pragma once
// The caller's streams and a rank's runs: a run that begins when a stream comes to it, and a stream that goes on when
// runs are over (decisions 14 and 23). No thread of the host takes part in either.
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "daemon/state/rank_memory.hpp"
#include "host/driver/memory.hpp"
#include "host/rank/device_waits.hpp"
#include "world/rank_queues.hpp"

namespace dfccl::gpu {

class RankStreams {
 public:
  static size_t pinnedBytes(const RankLimits& limits);

  /// Makes the tables in the device's memory and in the host's.
  RankStreams(DeviceArena& arena, PinnedMemory& pinned, const RankLimits& limits, DeviceWaits& waits, uint32_t place);

  /// What the daemon sees of it.
  const PendingMemory& pending() const { return pending_; }
  const WaitingMemory& waiting() const { return waiting_; }

  /// @throws Error dfcclInvalidArgument: it is no stream, or not any more.
  std::optional<uint64_t> captureOf(cudaStream_t stream) const;
  /// @throws Error dfcclInvalidArgument: no run can be put behind this stream, and it can't wait for any.
  void checkDevice(cudaStream_t stream) const;
  /// Which one it is, of all that there ever were. @throws as checkDevice()
  uint64_t idOf(cudaStream_t stream);
  /// It doesn't synchronize with the default stream.
  bool isFree(cudaStream_t stream) const;

  /// A stream's line. Whoever has entered it is alone with it: runs come on it in the order of their numbers.
  class Entered {
   public:
    PlaceOnLine next() const;
    /// The run with that number was submitted: the stream will come to it. @throws as storeOnStream
    void arrive(cudaStream_t stream);

   private:
    friend class RankStreams;
    Entered(RankStreams& streams, uint32_t line);
    RankStreams& streams_;
    const uint32_t line_;
    std::unique_lock<std::mutex> lock_;
  };
  /// @return nothing: as many streams as there can be runs have runs on their way.
  std::unique_ptr<Entered> enter(cudaStream_t stream);

  /// What a collective's count is once `issued` runs are over, counted from its registration.
  uint32_t targetOf(uint32_t index, uint64_t issued) const {
    return before_[index].load(order::relaxed) + static_cast<uint32_t>(issued);
  }
  /// Lets the stream wait until a collective's count is `target`. @param note of a wait that can be taken back;
  /// nullptr: it can't. @pre called by DeviceWaits::letWait() @throws as waitOnStreamFor
  void letWait(cudaStream_t stream, uint32_t index, uint32_t target, WaitNote* note) const;
  /// The daemon is to leave whatever waits.
  void letDaemonLeave() { mustLeave_.store(1, order::seqCst); }
  /// Nothing will complete any more: lets all streams that wait go on. @param through any stream that waits for
  /// nothing.
  void letStreamsGo(cudaStream_t through);
  /// The place will have another collective, and counts on.
  void retire(uint32_t index, uint64_t issued) { before_[index].store(targetOf(index, issued), order::relaxed); }

  /// The place's collective has had runs already, at another place.
  void follow(uint32_t index, uint64_t runs) {
    before_[index].store(targetOf(index, uint64_t{0} - runs), order::relaxed);
  }

  /// Whether a stream has come to a run that no daemon has taken: asked for by whoever starts daemons.
  bool hasArrivals() const;
  /// Whether a stream is still to come to a run.
  bool isAwaited() const;
  /// The lines on which something is on its way, in words.
  std::string describe() const;

 private:
  struct Line {
    std::mutex mutex;
    Atomic<uint32_t> asked;  // number of the last run behind its stream
    uint64_t streamId = 0;   // whose it is; under linesMutex_
  };

  bool isIdle(uint32_t line) const;
  uint32_t lineOf(uint64_t streamId);

  DeviceArena& arena_;
  DeviceWaits& waits_;
  const uint32_t place_;  // there
  PendingMemory pending_;
  WaitingMemory waiting_;
  Atomic<uint32_t>& mustLeave_;
  Array<Atomic<uint32_t>> rung_;  // [line], the host's memory: as PendingMemory::arrived, behind it
  std::vector<Line> lines_;
  Atomic<uint32_t> lineCount_;  // ever used
  std::mutex linesMutex_;
  std::unordered_map<uint64_t, uint32_t> lineOfStream_;
  Atomic<uint64_t> checkedId_;  // of the stream that was last found to be one of the device
  // [index]: runs of the place's former collectives, less those that this one had at another place
  std::vector<Atomic<uint32_t>> before_;
};

}  // namespace dfccl::gpu

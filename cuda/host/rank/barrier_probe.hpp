#pragma once
// Whether what streams are given now goes on beside the daemons that are there. The first launch of a kernel comes with
// a barrier, be its module loaded before or just now: the kernel, and whatever any stream of the process is given after
// it, begins only when everything that was given before is over, a daemon too (measured, decision 28).
#include <array>
#include <cstdint>
#include <mutex>

#include "base/array.hpp"
#include "base/atomics.hpp"
#include "host/driver/memory.hpp"

namespace dfccl::gpu {

class BarrierProbe {
 public:
  /// @throws Error
  explicit BarrierProbe(int device);
  BarrierProbe(const BarrierProbe&) = delete;
  BarrierProbe& operator=(const BarrierProbe&) = delete;

  /// As many as CUDA has hardware queues, unless it is told otherwise: fewer might all be behind streams that wait.
  static constexpr uint32_t kStreams = 8;

  /// Gives streams of its own a store each, which need nobody, one after the other: the next where the first doesn't
  /// come soon, because it may have to share a hardware queue with a stream that waits. Any thread.
  class Question {
   public:
    explicit Question(BarrierProbe& probe) : probe_(probe) {}
    /// Whether one has come: then nothing that was given before it keeps back what is given now, but what is in the
    /// same stream, or queue.
    bool isAnswered();

   private:
    void ask();

    BarrierProbe& probe_;
    uint64_t askedAt_ = 0;
    uint32_t streams_ = 0;
    std::array<uint32_t, kStreams> numbers_{};
  };

  /// DFCCL_TRUST_DAEMONS=1: nobody asks, for the control that must hang.
  static bool isLeftOut();

 private:
  struct Asked {
    cudaStream_t stream = nullptr;  // lasts as long as the process
    uint32_t count = 0;             // under mutex_
  };

  const int device_;
  PinnedMemory pinned_;
  Array<Atomic<uint32_t>> answered_;  // [stream], the host's memory
  std::mutex mutex_;
  std::array<Asked, kStreams> asked_;
};

}  // namespace dfccl::gpu

#pragma once
// Whether what streams are given now goes on beside the daemons that are there. A kernel whose module had to be loaded
// comes with a barrier: it, and whatever any stream of the process is given after it, begins only when everything that
// was given before is over, a daemon too. A launch of another thread's that had to wait for the driver meanwhile gets
// in between the load and that kernel. So there may be a daemon that all streams wait for (decision 25).
#include <cstdint>
#include <mutex>

#include "dfccl/atomics.hpp"
#include "host/memory.hpp"

namespace dfccl::gpu {

class BarrierProbe {
 public:
  /// @throws Error
  explicit BarrierProbe(int device);
  BarrierProbe(const BarrierProbe&) = delete;
  BarrierProbe& operator=(const BarrierProbe&) = delete;

  /// Gives a stream of its own a store, which needs nobody, and looks for it a little. Any thread.
  /// @return whether it came. If not, there may be a barrier, or the device does something else just now.
  bool isPassable();

  /// DFCCL_TRUST_DAEMONS=1: nobody asks, for the control that must hang.
  static bool isLeftOut();

 private:
  const int device_;
  PinnedMemory pinned_;
  Atomic<uint32_t>& answered_;
  cudaStream_t stream_ = nullptr;  // lasts as long as the process
  std::mutex mutex_;
  uint32_t asked_ = 0;  // under mutex_
};

}  // namespace dfccl::gpu

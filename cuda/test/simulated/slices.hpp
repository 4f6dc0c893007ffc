#pragma once
#include <cstdint>

namespace dfccl::gpu::simulated {

/// Several processes on a device have it in turn, for a while each, where SIMULATED_SLICES names a file that they
/// share: made by whoever comes first, to be removed by whoever chose its name. What a process's kernels do in
/// another's slice is nothing. A device of one process alone is never sliced.

/// Something of this process is at work on the device; so it takes its turn.
class AtWork {
 public:
  explicit AtWork(int device);
  ~AtWork();
  AtWork(const AtWork&) = delete;
  AtWork& operator=(const AtWork&) = delete;

 private:
  const int device_;
};

bool isSliced();

/// A step of a kernel: returns when this process has the device. Kernels that go on for long call it again and again.
/// Outside of kernels it does nothing.
void step();

/// For how long the kernel on this thread has not been stepping, because its thread had no processor or its process not
/// the device. On a busy machine that is seconds, which a watchdog must not count.
uint64_t pausedNanos();

}  // namespace dfccl::gpu::simulated

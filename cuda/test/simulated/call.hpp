#pragma once
#include <driver_types.h>

#include <mutex>

#include "simulated/context_lock.hpp"
#include "simulated/device.hpp"
#include "simulated/unkindness.hpp"

namespace dfccl::gpu::simulated {

/// A call of CUDA's, for as long as it takes: holds the context's lock where calls of its kind do, and may be
/// interrupted before, while it holds it, and after.
class Call {
 public:
  /// For what always takes the lock: launches, copies, and whatever waits for the device behind it.
  explicit Call(Device& device);
  /// For what takes it where a switch is on.
  Call(Device& device, const Switch& isLocked);
  ~Call();
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  /// Lets go of the lock and takes it again, when those who wait for it have had it.
  void letOthersIn();
  /// For what waits without the lock.
  void release() {
    if (lock_.owns_lock()) lock_.unlock();
  }

 private:
  Call(Device& device, bool isLocked);

  std::unique_lock<ContextLock> lock_;
};

/// Whether this thread is in such a call.
bool isInCall();

/// CUDA's runtime takes itself down when the process ends; whoever calls it then ends the process by a crash. Where a
/// call takes no lock, this is all there is of it.
void expectRuntime();

/// On the thread's current device.
Device& currentOne();

/// What a call answers, kept for cudaGetLastError().
cudaError_t answer(cudaError_t error);
/// What was kept. @param isForgotten as of cudaGetLastError(), and not of cudaPeekAtLastError().
cudaError_t lastAnswer(bool isForgotten);

/// What CUDA says of a stream that isn't there, or not any more.
cudaError_t errorOfMissing(const void* handle);

}  // namespace dfccl::gpu::simulated

#include "simulated/call.hpp"

#include <utility>

#include "simulated/chance.hpp"
#include "simulated/current_device.hpp"

namespace dfccl::gpu::simulated {
namespace {

thread_local cudaError_t last = cudaSuccess;

}  // namespace

Call::Call(Device& device) : Call(device, true) {}
Call::Call(Device& device, const Switch& isLocked) : Call(device, isLocked.isOn()) {}

Call::Call(Device& device, bool isLocked) : lock_(device.context(), std::defer_lock) {
  mayBePreempted();
  if (!isLocked) return;
  lock_.lock();
  mayBePreempted();
}

Call::~Call() {
  release();
  mayBePreempted();
}

void Call::letOthersIn() {
  const ContextLock& context = *lock_.mutex();
  const uint64_t turns = context.turnsToCome();
  lock_.unlock();
  mayBePreempted();
  context.awaitTurns(turns);
  lock_.lock();
}

Device& currentOne() { return Device::at(currentDevice); }

cudaError_t answer(cudaError_t error) {
  if (error != cudaSuccess) last = error;
  return error;
}

cudaError_t lastAnswer(bool isForgotten) { return isForgotten ? std::exchange(last, cudaSuccess) : last; }

cudaError_t errorOfMissing(const void* handle) {
  return Device::hadStream(handle) ? cudaErrorContextIsDestroyed : cudaErrorInvalidResourceHandle;
}

}  // namespace dfccl::gpu::simulated

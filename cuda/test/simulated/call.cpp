#include "simulated/call.hpp"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "simulated/chance.hpp"
#include "simulated/current_device.hpp"
#include "simulated/kept_giver.hpp"

namespace dfccl::gpu::simulated {
namespace {

thread_local cudaError_t last = cudaSuccess;
thread_local int calls = 0;

/// Made at the first call, so that it ends after whatever is to be told by exit() later.
class Runtime {
 public:
  static void expectUp() {
    static const Runtime runtime;
    if (isUp_.load(std::memory_order_acquire)) return;
    std::fputs("CUDA was called while the process ended.\n", stderr);
    std::abort();
  }

 private:
  Runtime() = default;
  ~Runtime() { isUp_.store(false, std::memory_order_release); }
  static inline std::atomic<bool> isUp_{true};
};

}  // namespace

Call::Call(Device& device) : Call(device, true) {}
Call::Call(Device& device, const Switch& isLocked) : Call(device, isLocked.isOn()) {}

Call::Call(Device& device, bool isLocked) : lock_(device.context(), std::defer_lock) {
  expectRuntime();
  ++calls;
  mayBePreempted();
  if (!isLocked) return;
  lock_.lock();
  mayBePreempted();
}

Call::~Call() {
  release();
  keepGiver();
  mayBePreempted();
  --calls;
}

void Call::letOthersIn() {
  const ContextLock& context = *lock_.mutex();
  const uint64_t turns = context.turnsToCome();
  lock_.unlock();
  mayBePreempted();
  context.awaitTurns(turns);
  lock_.lock();
}

bool isInCall() { return calls != 0; }

void expectRuntime() { Runtime::expectUp(); }

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

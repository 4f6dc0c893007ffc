#pragma once
// What a test needs of the simulated devices that CUDA's runtime has no call for: kernels of its own, each in a module,
// and a look at what is blocked.
#include <cuda_runtime_api.h>

#include <cstdint>
#include <functional>

#include "simulated/device.hpp"

namespace dfccl::gpu::simulated {

/// Launches a kernel, of a module that is loaded first if it isn't yet. Kernels that go on for long call step().
/// @param module from 0 on, of the current process and the stream's device. @param kernel which of the module's: the
/// first launch of each raises a barrier.
cudaError_t launchUserKernel(cudaStream_t stream, int module, std::function<void()> work, int kernel = 0);

/// Loads a module on the current device as cudaFuncGetAttributes() does of one of its kernels, if it isn't loaded yet.
cudaError_t loadModule(int module);

/// Loads one of the engine's, when a rank is made: unless SIMULATED_UNPREPARED says that nobody does.
cudaError_t prepareModule(int module);

/// How many modules this process has loaded, on all devices; and of them, the engine's.
uint64_t moduleLoads();
uint64_t engineModuleLoads();
void noteModuleLoad(int module);

/// Kernels of a device don't begin while there is one of these.
class KernelsHeld {
 public:
  explicit KernelsHeld(int device) : gate_(Device::at(device).gate()) { gate_.close(); }
  ~KernelsHeld() { gate_.open(); }
  KernelsHeld(const KernelsHeld&) = delete;
  KernelsHeld& operator=(const KernelsHeld&) = delete;

 private:
  KernelGate& gate_;
};

/// How many threads wait for a device to be idle, and how many for the lock of its context.
inline uint32_t threadsAwaitingIdle(int device) { return Device::at(device).idleWaiters(); }
inline uint32_t threadsAwaitingLock(int device) { return Device::at(device).context().waiting(); }
/// Until no daemon is inside, and until a thread waits for the device to be idle.
inline void awaitDaemonsOut(int device) { Device::at(device).awaitDaemonsOut(); }
inline void awaitIdleWaiter(int device) { Device::at(device).awaitIdleWaiter(); }

}  // namespace dfccl::gpu::simulated

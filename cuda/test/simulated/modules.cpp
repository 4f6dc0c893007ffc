#include "simulated/modules.hpp"

#include <atomic>

#include "simulated/call.hpp"
#include "simulated/current_device.hpp"
#include "simulated/unkindness.hpp"

namespace dfccl::gpu::simulated {
namespace {

std::atomic<uint64_t> loads{0}, engineLoads{0};

}  // namespace

cudaError_t launchUserKernel(cudaStream_t handle, int module, std::function<void()> work, int kernel) {
  Stream* const stream = Device::findStream(handle, currentDevice);
  if (stream == nullptr) return answer(errorOfMissing(handle));
  return Device::at(stream->device()).launchOf({module, kernel}, *stream, std::move(work), false);
}

cudaError_t loadModule(int module) {
  const Call call(currentOne());
  currentOne().load({module});
  return cudaSuccess;
}

cudaError_t prepareModule(int module) { return unkindness().unprepared.isOn() ? cudaSuccess : loadModule(module); }

uint64_t moduleLoads() { return loads; }
uint64_t engineModuleLoads() { return engineLoads; }
void noteModuleLoad(int module) {
  ++loads;
  if (module < 0) ++engineLoads;
}

}  // namespace dfccl::gpu::simulated

// A stream's wait that can be taken back, where there is no GPU.
#include <unistd.h>

#include "daemon/state/pending_runs.hpp"
#include "device/retractable_wait.cuh"
#include "simulated/current_device.hpp"
#include "simulated/device.hpp"
#include "simulated/modules.hpp"
#include "simulated/slices.hpp"

namespace dfccl::gpu {

cudaError_t prepareRetractableWaits(cudaStream_t) {
  return simulated::prepareModule(simulated::kRetractableWaitsModule);
}

cudaError_t launchRetractableWait(const RetractableWait& wait, cudaStream_t handle) {
  simulated::Stream& stream = simulated::Device::streamOf(handle, simulated::currentDevice);
  const auto kernel = [wait] {
    while (isBefore(wait.word->load(order::acquire), wait.value) && wait.note->isRetracted.load(order::acquire) == 0) {
      simulated::step();
      usleep(20);
    }
    wait.note->isOver.store(1, order::release);
  };
  return simulated::Device::at(stream.device()).launchOf({simulated::kRetractableWaitsModule}, stream, kernel, false);
}

}  // namespace dfccl::gpu

#include "device/retractable_wait.cuh"

#include "daemon/state/pending_runs.hpp"

namespace dfccl::gpu {
namespace {

// A look at the host's memory takes as long as several at the device's.
constexpr uint32_t kLooksPerNote = 8;

__global__ void retractableWait(const RetractableWait wait) {
  if (wait.word == nullptr) return;  // see prepareRetractableWaits()
  for (uint32_t look = 1; isBefore(wait.word->load(order::acquire), wait.value); ++look) {
    if (look % kLooksPerNote == 0 && wait.note->isRetracted.load(order::relaxed) != 0) break;
  }
  wait.note->isOver.store(1, order::relaxed);
}

}  // namespace

cudaError_t prepareRetractableWaits(cudaStream_t stream) {
  // What else comes to its multiprocessor finds all the shared memory there.
  const cudaError_t error =
      cudaFuncSetAttribute(reinterpret_cast<const void*>(retractableWait),
                           cudaFuncAttributePreferredSharedMemoryCarveout, cudaSharedmemCarveoutMaxShared);
  return error != cudaSuccess ? error : launchRetractableWait({}, stream);
}

cudaError_t launchRetractableWait(const RetractableWait& wait, cudaStream_t stream) {
  void* arguments[] = {const_cast<RetractableWait*>(&wait)};
  return cudaLaunchKernel(reinterpret_cast<const void*>(retractableWait), dim3(1), dim3(1), arguments, 0, stream);
}

}  // namespace dfccl::gpu

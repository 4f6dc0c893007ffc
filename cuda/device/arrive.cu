#include "device/arrive.cuh"

namespace dfccl::gpu {
namespace {

__global__ void arriveKernel(NoticeRing notices, uint32_t slot, Atomic<uint64_t>* doorbell) {
  const uint64_t position = notices.add(slot);
  // A daemon that leaves says so first, and then looks whether there are notices.
  __threadfence();
  if (notices.header->isRead.load(order::relaxed) != 0) return;
  // Whoever sees the bell and starts a daemon, its leader finds the notice.
  __threadfence_system();
  doorbell->store(position + 1, order::relaxed);
}

}  // namespace

cudaError_t prepareArrive() {
  cudaFuncAttributes attributes;
  return cudaFuncGetAttributes(&attributes, arriveKernel);
}

cudaError_t launchArrive(const NoticeRing& notices, uint32_t slot, Atomic<uint64_t>* doorbell, cudaStream_t stream) {
  arriveKernel<<<1, 1, 0, stream>>>(notices, slot, doorbell);
  return cudaGetLastError();
}

}  // namespace dfccl::gpu

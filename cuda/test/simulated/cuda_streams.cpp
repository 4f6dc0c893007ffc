// The part of CUDA's runtime that is about streams, over simulated ones.
#include <cuda_runtime_api.h>
#include <sys/mman.h>

#include <cstdint>
#include <cstring>

#include "simulated/current_device.hpp"
#include "simulated/device.hpp"
#include "simulated/memory_kind.hpp"

using namespace dfccl::gpu::simulated;

namespace {

Stream& of(cudaStream_t stream) { return Device::streamOf(stream, currentDevice); }

/// Pages of an arena that nobody has written to needn't be touched to be zero.
bool isGivenBack(void* memory, size_t bytes) {
  constexpr size_t kWorthIt = 1 << 20, kPage = 4096;
  const auto begin = reinterpret_cast<uintptr_t>(memory);
  return bytes >= kWorthIt && begin % kPage == 0 && bytes % kPage == 0 && madvise(memory, bytes, MADV_REMOVE) == 0;
}

/// Copies of pageable memory are over when the call returns.
void putCopy(cudaStream_t handle, bool isPageable, const std::function<void()>& copy) {
  Stream& stream = of(handle);
  Device::at(stream.device()).copy(stream, copy);
  if (isPageable) stream.synchronize();
}

}  // namespace

extern "C" {

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  *least = Device::kLeastPriority;
  *greatest = Device::kGreatestPriority;
  return cudaSuccess;
}
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned, int priority) {
  *stream = reinterpret_cast<cudaStream_t>(&Device::at(currentDevice).makeStream(priority));
  return cudaSuccess;
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  return cudaStreamCreateWithPriority(stream, flags, Device::kLeastPriority);
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  if (stream == nullptr) return cudaErrorInvalidResourceHandle;
  Device::at(of(stream).device()).destroyStream(of(stream));
  return cudaSuccess;
}
cudaError_t cudaStreamQuery(cudaStream_t stream) { return of(stream).isIdle() ? cudaSuccess : cudaErrorNotReady; }
cudaError_t cudaStreamGetDevice(cudaStream_t stream, int* device) {
  *device = of(stream).device();
  return cudaSuccess;
}
cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) {
  *priority = of(stream).priority();
  return cudaSuccess;
}
cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long* id) {
  *id = of(stream).id;
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  of(stream).synchronize();
  return cudaSuccess;
}
cudaError_t cudaDeviceSynchronize() {
  Device::at(currentDevice).awaitIdle(false);
  return cudaSuccess;
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  *status = of(stream).isCapturing ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
  return cudaSuccess;
}
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
  of(stream).isCapturing = true;
  return cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  of(stream).isCapturing = false;
  *graph = nullptr;
  return cudaSuccess;
}
cudaError_t cudaGraphDestroy(cudaGraph_t) { return cudaSuccess; }

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
  of(stream).put([=] { function(data); });
  return cudaSuccess;
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind, cudaStream_t stream) {
  putCopy(stream, isPageable(to) || isPageable(from), [=] { std::memcpy(to, from, bytes); });
  return cudaSuccess;
}
cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind) {
  if (bytes != 0) putCopy(nullptr, true, [=] { std::memcpy(to, from, bytes); });
  return cudaSuccess;
}
cudaError_t cudaMemsetAsync(void* memory, int value, size_t bytes, cudaStream_t stream) {
  putCopy(stream, false, [=] {
    if (value != 0 || !isGivenBack(memory, bytes)) std::memset(memory, value, bytes);
  });
  return cudaSuccess;
}
}

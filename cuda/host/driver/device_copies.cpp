#include "host/driver/device_copies.hpp"

#include "host/driver/relaxed_capture.hpp"

namespace dfccl::gpu {

DeviceCopies::DeviceCopies(int device) : device_(device) {
  const OnDevice here(device);
  DFCCL_CUDA(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
}

DeviceCopies::DeviceCopies(DeviceCopies&& other) noexcept : device_(other.device_), stream_(other.stream_) {
  other.stream_ = nullptr;
}

DeviceCopies::~DeviceCopies() {
  if (stream_ != nullptr) cudaStreamDestroy(stream_);
}

void DeviceCopies::copy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) const {
  if (bytes == 0) return;
  const RelaxedCapture relaxed;
  const OnDevice here(device_);
  DFCCL_CUDA(cudaMemcpyAsync(to, from, bytes, kind, stream_));
  DFCCL_CUDA(cudaStreamSynchronize(stream_));
}

void* DeviceCopies::allocateZeroed(size_t bytes) const {
  const OnDevice here(device_);
  void* memory = nullptr;
  DFCCL_CUDA(cudaMalloc(&memory, bytes == 0 ? 1 : bytes));
  DFCCL_CUDA(cudaMemsetAsync(memory, 0, bytes, stream_));
  DFCCL_CUDA(cudaStreamSynchronize(stream_));
  return memory;
}

}  // namespace dfccl::gpu

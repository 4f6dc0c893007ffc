#include "device_allocator.hpp"

#include "error.hpp"

#ifdef DFCCL_TORCH_CUDA
#include <c10/core/DeviceGuard.h>
#include <c10/cuda/CUDAException.h>
#include <torch/csrc/cuda/CUDAPluggableAllocator.h>
#endif

namespace dfccl_torch {

#ifdef DFCCL_TORCH_CUDA

namespace {

c10::Device deviceOf(int device) { return {c10::kCUDA, static_cast<c10::DeviceIndex>(device)}; }

/// @return null, as torch wants it, where there is no such memory left: it frees what it keeps and asks again.
void* allocate(size_t bytes, int device, cudaStream_t) {
  const c10::DeviceGuard guard(deviceOf(device));
  void* memory = nullptr;
  const cudaError_t error = cudaMalloc(&memory, bytes);
  if (error == cudaSuccess) return memory;
  cudaGetLastError();
  if (error == cudaErrorMemoryAllocation) return nullptr;
  C10_CUDA_CHECK(error);
  return nullptr;
}

void giveBack(void* memory, size_t, int device, cudaStream_t) {
  const c10::DeviceGuard guard(deviceOf(device));
  C10_CUDA_CHECK_WARN(cudaFree(memory));
}

}  // namespace

std::shared_ptr<c10::Allocator> deviceAllocator() {
  // Pools may outlive all groups.
  static auto& only = *new std::shared_ptr<c10::Allocator>(
      torch::cuda::CUDAPluggableAllocator::createCustomAllocator(allocate, giveBack));
  return only;
}

#else

std::shared_ptr<c10::Allocator> deviceAllocator() {
  refuse("There is no allocator for pools without CUDA.", "Ask for memory that all ranks reach with allocate_tensor.");
}

#endif

}  // namespace dfccl_torch

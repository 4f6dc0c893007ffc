#pragma once
#include <c10/core/Allocator.h>

#include <memory>

namespace dfccl_torch {

/// For torch.cuda.MemPool: memory of GPUs that other processes can map, which that of expandable segments is not, so
/// that large collectives move directly from and to it. Made by cudaMalloc, given back by cudaFree. Any thread.
/// @throws DistBackendError where the extension was made without CUDA.
std::shared_ptr<c10::Allocator> deviceAllocator();

}  // namespace dfccl_torch

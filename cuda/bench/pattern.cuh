#pragma once
// Test data whose sum is exact in any order, made and checked on the device.
#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace dfccl::gpu::bench {

/// Element i of what `rank` contributes to variant k.
__host__ __device__ inline float patternOf(uint64_t i, uint32_t rank, uint32_t k) {
  return static_cast<float>((i * 7 + rank * 13 + k * 29) & 63);
}

void fill(float* data, uint64_t count, uint32_t rank, uint32_t k, cudaStream_t stream);
/// Adds to *wrong the number of elements that are not the sum over all ranks.
void checkSum(const float* data, uint64_t count, uint32_t ranks, uint32_t k, unsigned* wrong, cudaStream_t stream);
/// Keeps `blocks` blocks busy for about so many microseconds.
void compute(uint32_t blocks, uint32_t micros, cudaStream_t stream);

}  // namespace dfccl::gpu::bench

#include "bench/pattern.cuh"

namespace dfccl::gpu::bench {
namespace {

constexpr uint32_t kThreads = 256;
constexpr uint32_t kMaxBlocks = 64;

uint32_t blocksFor(uint64_t count) {
  const uint64_t blocks = (count + kThreads - 1) / kThreads;
  return blocks < kMaxBlocks ? static_cast<uint32_t>(blocks) : kMaxBlocks;
}

__global__ void fillKernel(float* data, uint64_t count, uint32_t rank, uint32_t k) {
  for (uint64_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += uint64_t{gridDim.x} * blockDim.x) {
    data[i] = patternOf(i, rank, k);
  }
}

__global__ void checkKernel(const float* data, uint64_t count, uint32_t ranks, uint32_t k, unsigned* wrong) {
  unsigned mine = 0;
  for (uint64_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += uint64_t{gridDim.x} * blockDim.x) {
    float expected = 0;
    for (uint32_t r = 0; r < ranks; ++r) expected += patternOf(i, r, k);
    if (!(data[i] == expected)) ++mine;
  }
  if (mine != 0) atomicAdd(wrong, mine);
}

__global__ void computeKernel(uint32_t micros) {
  uint64_t begin, now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
  do {
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  } while (now - begin < uint64_t{micros} * 1000);
}

}  // namespace

void fill(float* data, uint64_t count, uint32_t rank, uint32_t k, cudaStream_t stream) {
  fillKernel<<<blocksFor(count), kThreads, 0, stream>>>(data, count, rank, k);
}

void checkSum(const float* data, uint64_t count, uint32_t ranks, uint32_t k, unsigned* wrong, cudaStream_t stream) {
  checkKernel<<<blocksFor(count), kThreads, 0, stream>>>(data, count, ranks, k, wrong);
}

void compute(uint32_t blocks, uint32_t micros, cudaStream_t stream) {
  computeKernel<<<blocks, kThreads, 0, stream>>>(micros);
}

}  // namespace dfccl::gpu::bench

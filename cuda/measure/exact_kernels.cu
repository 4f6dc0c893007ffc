#include "measure/exact_kernels.cuh"
#include "perf/shape.hpp"

namespace dfccl::gpu::measure {
namespace {

using bench::ExactData;

constexpr uint32_t kThreads = 256;
constexpr uint32_t kMostBlocks = 1024;

uint32_t blocksFor(uint64_t count) {
  const uint64_t blocks = (count + kThreads - 1) / kThreads;
  return static_cast<uint32_t>(blocks < kMostBlocks ? blocks : kMostBlocks);
}

template <class T>
__global__ void fillKernel(ExactData data, T* out, uint64_t count, uint32_t whose) {
  for (uint64_t i = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += uint64_t{gridDim.x} * blockDim.x) {
    out[i] = data.input<T>(whose, i);
  }
}

template <class T>
__device__ bool isSame(const T& a, const T& b) {
  const auto* x = reinterpret_cast<const uint8_t*>(&a);
  const auto* y = reinterpret_cast<const uint8_t*>(&b);
  bool same = true;
  for (size_t i = 0; i < sizeof(T); ++i) same &= x[i] == y[i];
  return same;
}

template <class T>
__global__ void compareKernel(ExactData data, const T* got, uint64_t first, uint64_t count, uint32_t source,
                              unsigned long long* wrong) {
  unsigned mine = 0;
  for (uint64_t i = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += uint64_t{gridDim.x} * blockDim.x) {
    const T expected = source == bench::Case::kReduced ? data.reduced<T>(first + i) : data.input<T>(source, first + i);
    if (!isSame(expected, got[i])) ++mine;
  }
  if (mine != 0) atomicAdd(wrong, mine);
}

}  // namespace

void fillExact(const ExactData& data, void* out, uint64_t count, uint32_t whose, cudaStream_t stream) {
  if (count == 0) return;
  bench::withElement(data.type(), [&]<class T>(T) {
    fillKernel<T><<<blocksFor(count), kThreads, 0, stream>>>(data, static_cast<T*>(out), count, whose);
  });
}

void compareExact(const ExactData& data, const void* got, uint64_t first, uint64_t count, uint32_t source,
                  unsigned long long* wrong, cudaStream_t stream) {
  if (count == 0) return;
  bench::withElement(data.type(), [&]<class T>(T) {
    compareKernel<T>
        <<<blocksFor(count), kThreads, 0, stream>>>(data, static_cast<const T*>(got), first, count, source, wrong);
  });
}

}  // namespace dfccl::gpu::measure

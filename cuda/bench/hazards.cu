// Small kernels for compute-sanitizer's racecheck: the two ways in which the daemon's threads hand over to one another,
// each beside one that the tool is known to follow, and a race, which it must find. --kind:
//
//   atomics           words, then a released position; whoever acquires the position reads the words
//   atomics-barrier   the same words, handed over at a barrier of the block
//   lone-lane         workers write, and meet at a hardware barrier the only lane that is left of its warp, which reads
//   whole-warp        the same, with all lanes of that warp at the barrier
//   race              nothing between the write and the read
#include <cstdio>

#include "base/atomics.hpp"
#include "bench/harness.hpp"

namespace dfccl::gpu::bench {
namespace {

constexpr uint32_t kWorkers = 64;
constexpr uint32_t kThreads = kWorkers + 32;
constexpr int kRounds = 8;

__global__ void handOverByAtomics(uint64_t* out, bool useBarrier) {
  __shared__ uint64_t words[kRounds];
  __shared__ Atomic<uint64_t, Scope::block> filled;
  if (threadIdx.x == 0) filled.store(0, order::relaxed);
  __syncthreads();
  uint64_t sum = 0;
  for (int round = 0; round < kRounds; ++round) {
    if (threadIdx.x == 32) {
      words[round] = round + 1;
      if (!useBarrier) filled.store(round + 1, order::release);
    }
    if (useBarrier) __syncthreads();
    if (threadIdx.x == 0) {
      while (!useBarrier && filled.load(order::acquire) == static_cast<uint64_t>(round)) {
      }
      sum += words[round];
    }
  }
  if (threadIdx.x == 0) *out = sum;
}

template <int barrier>
__device__ void meet() {
  asm volatile("barrier.cta.sync %0, %1;" ::"n"(barrier), "n"(kThreads) : "memory");
}

__global__ void handOverAtBarrier(uint64_t* out, bool isWarpWhole) {
  __shared__ uint64_t words[kWorkers];
  const bool isControl = threadIdx.x == kWorkers;
  if (!isWarpWhole && threadIdx.x > kWorkers) return;
  uint64_t sum = 0;
  for (int round = 0; round < kRounds; ++round) {
    meet<1>();
    if (threadIdx.x < kWorkers) words[threadIdx.x] = round + 1;
    meet<2>();
    if (isControl) sum += words[round];
  }
  if (isControl) *out = sum;
}

__global__ void race(uint64_t* out) {
  __shared__ volatile uint64_t word;
  if (threadIdx.x == 32) word = 1;
  if (threadIdx.x == 0) *out = word;
}

}  // namespace

int runHazards(const Arguments& arguments) {
  const std::string kind = arguments.text("--kind", "race");
  uint64_t* out = nullptr;
  DFCCL_CUDA(cudaMalloc(reinterpret_cast<void**>(&out), sizeof *out));
  if (kind == "atomics" || kind == "atomics-barrier") {
    handOverByAtomics<<<1, 64>>>(out, kind == "atomics-barrier");
  } else if (kind == "lone-lane" || kind == "whole-warp") {
    handOverAtBarrier<<<1, kThreads>>>(out, kind == "whole-warp");
  } else {
    race<<<1, 64>>>(out);
  }
  DFCCL_CUDA(cudaDeviceSynchronize());
  uint64_t sum = 0;
  DFCCL_CUDA(cudaMemcpy(&sum, out, sizeof sum, cudaMemcpyDeviceToHost));
  constexpr uint64_t kRight = kRounds * (kRounds + 1) / 2;
  const bool isRight = kind == "race" || sum == kRight;
  std::printf("{\"bench\":\"hazards\",\"kind\":\"%s\",\"right\":%s}\n", kind.c_str(), isRight ? "true" : "false");
  return isRight ? 0 : 1;
}

}  // namespace dfccl::gpu::bench

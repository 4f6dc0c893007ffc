// A file of one kernel, and so a module of its own, that CUDA loads when the kernel is first launched.
#include "bench/late_module.hpp"

namespace dfccl::gpu::bench {
namespace {

__global__ void lateKernel(volatile uint32_t* word) { *word = 1; }

}  // namespace

void launchOfLateModule(volatile uint32_t* word, cudaStream_t stream) { lateKernel<<<1, 1, 0, stream>>>(word); }

}  // namespace dfccl::gpu::bench

#pragma once
#include <cuda_runtime_api.h>

#include <cstdint>

namespace dfccl::gpu::bench {

/// Launches a kernel that stores 1 into the word. The process's first such launch loads the kernel's module.
void launchOfLateModule(volatile uint32_t* word, cudaStream_t stream);

}  // namespace dfccl::gpu::bench

#pragma once
#include "stream_programs/user_kernels.hpp"

namespace dfccl::gpu::programs {

using LaunchModule = cudaError_t (*)(uint32_t* counter, cudaStream_t stream);
extern const LaunchModule kModuleTable[kModules];

}  // namespace dfccl::gpu::programs

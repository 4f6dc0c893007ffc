#pragma once
#include <cuda_runtime_api.h>

#include "block/block_shared.cuh"

namespace dfccl::gpu {

/// Loads the kernel on the current device, so that no later launch has to wait for it beside a daemon.
cudaError_t prepareDaemon();
/// One stay: `grid` blocks, none of which needs another to be there.
cudaError_t launchDaemon(const LaunchArguments& arguments, uint32_t grid, cudaStream_t stream);

}  // namespace dfccl::gpu

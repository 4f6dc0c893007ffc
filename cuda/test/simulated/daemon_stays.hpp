#pragma once
#include <cuda_runtime_api.h>

namespace dfccl::gpu::simulated {

/// Waits for the daemon's stay on a stream, if there is one.
void awaitStay(cudaStream_t stream);

}  // namespace dfccl::gpu::simulated

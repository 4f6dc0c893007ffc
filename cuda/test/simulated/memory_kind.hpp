#pragma once

namespace dfccl::gpu::simulated {

/// Whether it is memory of the host's that CUDA didn't give.
bool isPageable(const void* address);

}  // namespace dfccl::gpu::simulated

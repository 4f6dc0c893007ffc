#pragma once
// How runs that are kernels of their own went, as the simulated devices carried them out.
#include <cstdint>

namespace dfccl::gpu::simulated {

/// Lanes of this process's ranks whose data went straight from and to the members' buffers.
uint64_t lanesMovedDirectly();

}  // namespace dfccl::gpu::simulated

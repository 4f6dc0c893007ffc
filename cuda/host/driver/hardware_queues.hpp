#pragma once
#include <cstdint>

namespace dfccl::gpu {

/// How many hardware queues CUDA puts a process's streams on a device into.
uint32_t hardwareQueues();

}  // namespace dfccl::gpu

#pragma once
#include <cstdint>

#include "world/known_memory.hpp"

namespace dfccl::gpu {

/// The allocation that device memory lies in; nothing where the driver doesn't tell.
MemoryRange rangeOf(const void* address);
/// Of the allocation: no two of a process have the same, even one after the other at one address. 0: there is none.
uint64_t identityOf(const void* address);
/// Whether other devices that can reach this one's memory reach it: not what comes from pools or is virtual memory,
/// which the program lets them reach, or doesn't.
bool isWithinReach(const void* address);

}  // namespace dfccl::gpu

#pragma once
// Copies whose stores go around the cache (x86-64 only; elsewhere there are none).
#include "kernel_family.hpp"

namespace dfccl::reduce_copy {

#if defined(__x86_64__)
void streamStore(void* destination, const void* source, size_t bytes);
void streamFence();
inline constexpr StreamKernel kStreamStore = streamStore;
inline constexpr void (*kStreamFence)() = streamFence;
#else
inline constexpr StreamKernel kStreamStore = nullptr;
inline constexpr void (*kStreamFence)() = nullptr;
#endif

}  // namespace dfccl::reduce_copy

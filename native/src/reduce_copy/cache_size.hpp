#pragma once
#include <cstddef>

namespace dfccl::reduce_copy {

/// Size of this machine's last-level cache; 32 MiB where the system doesn't say.
size_t lastLevelCacheBytes();

/// How much of it what is written can be expected to stay in. A virtual machine is told the size of its host's, and has
/// a few of the cores that share it: measured on two of them, told of 480 MiB, buffers of 64 MiB come from memory.
size_t expectedCacheBytes();

}  // namespace dfccl::reduce_copy

#pragma once
#include "block/block_shared.cuh"

namespace dfccl::gpu {

// For a control thread without tasks: waits a little for something to do. Its whole step takes long to say that there
// is nothing.
inline constexpr int kLooksForWork = 256;

/// Whether the polling warp has an entry that the control thread hasn't taken.
__device__ inline bool hasStagedEntry() {
  const StagedEntries& staged = blockShared().staged;
  return staged.filled.load(order::relaxed) != staged.taken.load(order::relaxed);
}

/// An entry.
__device__ inline void awaitStaged() {
  StagedEntries& staged = blockShared().staged;
  const uint64_t taken = staged.taken.load(order::relaxed);
#pragma unroll 1
  for (int look = 0; look < kLooksForWork && staged.filled.load(order::relaxed) == taken; ++look) {
  }
}

/// The leader: anything that its polling warp has not told by the `seen`-th time. One word says it, because two would
/// take longer to look at.
__device__ inline void awaitNews(uint32_t seen) {
  StagedEntries& staged = blockShared().staged;
#pragma unroll 1
  for (int look = 0; look < kLooksForWork && staged.news.load(order::relaxed) == seen; ++look) {
  }
}

}  // namespace dfccl::gpu

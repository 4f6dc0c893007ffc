#pragma once
#include "block_shared.cuh"

namespace dfccl::gpu {

/// For a control thread without tasks: waits a little for something to do. Its whole step takes long to say that there
/// is nothing.
__device__ inline void awaitStaged() {
  constexpr int kLooks = 256;
  StagedEntries& staged = blockShared().staged;
  const uint64_t taken = staged.taken.load(order::relaxed);
#pragma unroll 1
  for (int look = 0; look < kLooks && staged.filled.load(order::relaxed) == taken; ++look) {
  }
}

}  // namespace dfccl::gpu

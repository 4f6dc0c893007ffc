#pragma once
#include "block_shared.cuh"

namespace dfccl::gpu {

/// For a control thread without tasks: waits a little for an entry, or for a notice behind the first `notices`. Its
/// whole step takes long to say that there is nothing.
__device__ inline void awaitStaged(uint64_t notices) {
  constexpr int kLooks = 64, kLooksPerNotice = 4;
  StagedEntries& staged = blockShared().staged;
  const uint64_t taken = staged.taken.load(order::relaxed);
#pragma unroll 1
  for (int i = 0; i < kLooks && staged.noticeTail.load(order::relaxed) == notices; ++i) {
#pragma unroll 1
    for (int look = 0; look < kLooksPerNotice; ++look) {
      if (staged.filled.load(order::relaxed) != taken) return;
    }
  }
}

}  // namespace dfccl::gpu

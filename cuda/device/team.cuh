#pragma once
// The control thread and the workers: an order, done by all of them, and back.
#include "block/block_shared.cuh"

namespace dfccl::gpu {

// Both sides wait at both barriers. The workers are parked at the first one whenever the control thread comes, so it
// need not have waited, but then it would not be ordered behind what they read of the order before. Not the aligned
// form: of the control thread's warp, one lane alone is left.
template <int barrier>
__device__ inline void meetAt() {
  asm volatile("barrier.cta.sync %0, %1;" ::"n"(barrier), "n"(kTeamThreads) : "memory");
}

/// Control thread: has the order in shared memory carried out.
__device__ inline void carryOut() {
  meetAt<kBeginBarrier>();
  meetAt<kEndBarrier>();
}

/// Control thread: the workers leave the kernel.
__device__ inline void dismissTeam() {
  blockShared().order.work = Work::leave;
  meetAt<kBeginBarrier>();
}

/// What a worker does until it is dismissed.
__device__ void workInTeam();

}  // namespace dfccl::gpu

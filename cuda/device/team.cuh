#pragma once
// The control thread and the workers: an order, done by all of them, and back.
#include "block_shared.cuh"

namespace dfccl::gpu {

enum class TeamBarrier : int { begin = 1, end = 2 };

// Not the aligned forms: of the control thread's warp, one lane alone is left.
template <TeamBarrier barrier>
__device__ inline void arriveAt() {
  asm volatile("barrier.cta.arrive %0, %1;" ::"n"(static_cast<int>(barrier)), "n"(kTeamThreads) : "memory");
}
template <TeamBarrier barrier>
__device__ inline void waitAt() {
  asm volatile("barrier.cta.sync %0, %1;" ::"n"(static_cast<int>(barrier)), "n"(kTeamThreads) : "memory");
}

/// Control thread: has the order in shared memory carried out.
__device__ inline void carryOut() {
  arriveAt<TeamBarrier::begin>();
  waitAt<TeamBarrier::end>();
}

/// Control thread: the workers leave the kernel.
__device__ inline void dismissTeam() {
  blockShared().order.work = Work::leave;
  arriveAt<TeamBarrier::begin>();
}

/// What a worker does until it is dismissed.
__device__ void workInTeam();

}  // namespace dfccl::gpu

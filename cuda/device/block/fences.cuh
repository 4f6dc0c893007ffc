#pragma once
// Fences that order what a block wrote and read before with what it does afterwards. CUDA's __threadfence is
// sequentially consistent besides, which takes longer and nobody here relies on.

namespace dfccl::gpu {

__device__ inline void fenceDevice() { asm volatile("fence.acq_rel.gpu;" ::: "memory"); }
/// For peers, too.
__device__ inline void fenceSystem() { asm volatile("fence.acq_rel.sys;" ::: "memory"); }

}  // namespace dfccl::gpu

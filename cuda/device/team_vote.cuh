#pragma once
#include "block/threads.cuh"

namespace dfccl::gpu {

/// Workers: whether all of them say yes. Everything that one did before comes before what another does afterwards.
__device__ inline bool isUnanimous(bool mine) {
  uint32_t all;
  asm volatile(
      "{\n\t.reg .pred mine, all;\n\t"
      "setp.ne.u32 mine, %1, 0;\n\t"
      "barrier.cta.red.and.pred all, %2, %3, mine;\n\t"
      "selp.u32 %0, 1, 0, all;\n\t}"
      : "=r"(all)
      : "r"(static_cast<uint32_t>(mine)), "n"(kVoteBarrier), "n"(kWorkers)
      : "memory");
  return all != 0;
}

}  // namespace dfccl::gpu

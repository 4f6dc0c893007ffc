#pragma once
// Whether streams of this process wait on the device: see daemon/state/waiting_streams.hpp.
#include "block/block_shared.cuh"

namespace dfccl::gpu {

/// The workers, each for its part. The reads of a loop are under way together: one after the other, each takes a
/// microsecond. @return whether a stream waits for anything of this thread's.
__device__ __noinline__ inline bool isAnyAwaited() {
  constexpr uint32_t kRounds = (AwaitedRuns::kMost + kWorkers - 1) / kWorkers;
  const WaitingMemory& waiting = blockShared().memory.get().waiting;
  const uint32_t table = blockShared().launch.awaitedTable;
  uint32_t isRank[DeviceAwaited::kMostRanks];
#pragma unroll
  for (uint32_t place = 0; place < DeviceAwaited::kMostRanks; ++place) {
    isRank[place] = waiting.device->isRank[place].load(order::relaxed);
  }
  bool isAny = false;
#pragma unroll
  for (uint32_t place = 0; place < DeviceAwaited::kMostRanks; ++place) {
    if (isRank[place] == 0) continue;
#pragma unroll
    for (uint32_t round = 0; round < kRounds; ++round) {
      const uint32_t index = threadIdx.x + round * kWorkers;
      if (index < AwaitedRuns::kMost) isAny |= waiting.isAwaited(table, place, index);
    }
  }
  return isAny;
}

}  // namespace dfccl::gpu

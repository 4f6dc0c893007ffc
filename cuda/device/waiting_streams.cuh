#pragma once
// Whether streams of this process wait on the device: see daemon/state/waiting_streams.hpp.
#include "block_shared.cuh"

namespace dfccl::gpu {

/// The workers, each for its part. @return whether a stream waits for anything of this thread's.
__device__ __noinline__ inline bool isAnyAwaited() {
  const WaitingMemory& waiting = blockShared().memory.get().waiting;
  bool isAny = false;
  for (uint32_t place = 0; place < DeviceAwaited::kMostRanks; ++place) {
    if (waiting.device->isRank[place].load(order::relaxed) == 0) continue;
    for (uint32_t index = threadIdx.x; index < AwaitedRuns::kMost; index += kWorkers) {
      isAny |= waiting.isAwaited(place, index);
    }
  }
  return isAny;
}

}  // namespace dfccl::gpu

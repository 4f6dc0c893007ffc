#pragma once
// Where a block of a GPU has what it works with.
#include "block_shared.cuh"

namespace dfccl::gpu {

/// All of it at fixed places in shared memory, so that no pointer has to be looked up first.
class DeviceBlockView {
 public:
  __device__ DeviceBlockView(RankMemory&, uint32_t) {}

  __device__ static RankMemory& rank() { return blockShared().memory.get(); }
  __device__ static BlockMemory& block() { return blockShared().block.get(); }
  __device__ static BlockCounters& counters() { return blockShared().counters; }
  __device__ static QueueEntry& queued(uint32_t position) { return blockShared().queue[position]; }
  __device__ static uint32_t queueCapacity() { return kSharedTasks; }
  /// Moves the entries behind `position` one place forward: several at once, for each trip to shared memory is as
  /// long as twenty instructions.
  __device__ static void closeGap(uint32_t position, uint32_t length) {
    constexpr uint32_t kAtOnce = 8;
    QueueEntry* const queue = blockShared().queue;
    uint32_t i = position;
#pragma unroll 1
    for (; i + kAtOnce < length; i += kAtOnce) {
      QueueEntry moved[kAtOnce];
#pragma unroll
      for (uint32_t j = 0; j < kAtOnce; ++j) moved[j] = queue[i + j + 1];
#pragma unroll
      for (uint32_t j = 0; j < kAtOnce; ++j) queue[i + j] = moved[j];
    }
#pragma unroll 1
    for (; i + 1 < length; ++i) queue[i] = queue[i + 1];
  }
  /// The host registers no more tasks than the queue holds, and a GPU has no in-order mode, which needs more.
  __device__ static void growQueue() { __trap(); }
  __device__ static uint8_t& isActive(uint32_t task) { return blockShared().tables.isActive[task]; }
  __device__ static uint32_t& nextRun(uint32_t slot) { return blockShared().tables.nextRun[slot]; }
  __device__ static uint32_t& lastRun(uint32_t collective) { return blockShared().tables.lastRun[collective]; }
};

/// They come with the block and go with it, see block_tables.cuh.
class DeviceTaskPlaces {
 public:
  static constexpr bool kLasts = true;
  __device__ DeviceTaskPlaces(const RankMemory&, uint32_t) {}
  __device__ static ContextSlot& context(uint32_t place) { return blockShared().kept.contexts[place]; }
  __device__ static PreparedPart& prepared(uint32_t place) { return blockShared().kept.prepared[place]; }
};

}  // namespace dfccl::gpu

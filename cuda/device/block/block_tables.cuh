#pragma once
// The tables of a block come into shared memory with it and go back with it.
#include "block_shared.cuh"

namespace dfccl::gpu {

namespace detail {

template <class T>
__device__ inline void copyTable(T* to, const T* from, uint64_t count, uint32_t threads) {
  for (uint64_t i = threadIdx.x; i < count; i += threads) to[i] = from[i];
}

__device__ inline void copyKept(KeptTasks& to, const KeptTasks& from, uint32_t threads) {
  copyTable(reinterpret_cast<uint4*>(&to), reinterpret_cast<const uint4*>(&from), sizeof to / sizeof(uint4), threads);
}

}  // namespace detail

/// All threads of the block, which synchronize before anyone uses the tables and afterwards.
/// @pre BlockShared::launch is there.
__device__ inline void loadTables() {
  BlockShared& shared = blockShared();
  BlockMemory& block = shared.block.get();
  BlockTables& tables = shared.tables;
  const Array<uint32_t>& partsAtEnd = shared.memory.get().partsAtEnd;
  if (blockIdx.x == 0) detail::copyTable(tables.partsAtEnd, partsAtEnd.data(), partsAtEnd.size(), kBlockThreads);
  detail::copyTable(tables.nextRun, block.nextRun.data(), block.nextRun.size(), kBlockThreads);
  detail::copyTable(tables.lastRun, block.lastRun.data(), block.lastRun.size(), kBlockThreads);
  detail::copyTable(tables.isDropped, shared.launch.dropped + blockIdx.x * kMostCollectives, kMostCollectives,
                    kBlockThreads);
  detail::copyKept(shared.kept, shared.launch.kept[blockIdx.x], kBlockThreads);
  const auto& arrived = shared.memory.get().pending.arrived;
  for (uint32_t i = threadIdx.x; blockIdx.x == 0 && i < arrived.size(); i += kBlockThreads) {
    shared.arrivedOn[i].store(arrived[i].load(order::relaxed), order::relaxed);
  }
  for (uint32_t i = threadIdx.x; i < kMostTasks; i += kBlockThreads) tables.isActive[i] = 0;
  for (uint32_t i = threadIdx.x; i < kMostCollectives; i += kBlockThreads) tables.heads[i].blockCount = 0;
  __syncthreads();
  // Near images don't last.
  for (uint32_t i = threadIdx.x; i < kNearContexts; i += kBlockThreads) shared.kept.contexts[i].view = nullptr;
  // A task is active while it is in its block's queue.
  for (uint32_t i = threadIdx.x; i < block.savedLength; i += kBlockThreads) {
    tables.isActive[block.savedQueue[i].task] = 1;
  }
}

/// All workers, while the control thread waits.
__device__ inline void saveTables() {
  BlockShared& shared = blockShared();
  BlockMemory& near = shared.block.get();
  BlockMemory& far = shared.memory.get().blocks[blockIdx.x];
  const Array<uint32_t>& partsAtEnd = shared.memory.get().partsAtEnd;
  if (blockIdx.x == 0) detail::copyTable(partsAtEnd.data(), shared.tables.partsAtEnd, partsAtEnd.size(), kWorkers);
  detail::copyTable(far.nextRun.data(), shared.tables.nextRun, far.nextRun.size(), kWorkers);
  detail::copyTable(far.lastRun.data(), shared.tables.lastRun, far.lastRun.size(), kWorkers);
  detail::copyTable(shared.launch.dropped + blockIdx.x * kMostCollectives, shared.tables.isDropped, kMostCollectives,
                    kWorkers);
  detail::copyKept(shared.launch.kept[blockIdx.x], shared.kept, kWorkers);
  if (threadIdx.x != 0) return;
  shared.launch.posted.blocks[blockIdx.x] = shared.counters;
  far.counters = shared.counters;
  far.savedLength = near.savedLength;
  far.savedCursor = near.savedCursor;
  shared.trace.ring->count = shared.trace.count;
}

}  // namespace dfccl::gpu

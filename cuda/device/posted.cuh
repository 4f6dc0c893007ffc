#pragma once
// What the daemon posts to the host's memory, so that nobody has to ask the device: how far each collective is, and
// counters. Stores that nobody waits for.
#include "block/block_shared.cuh"

namespace dfccl::gpu {

template <class Counters>
__device__ inline void postCounters(Counters* to, const Counters& from, uint32_t thread) {
  constexpr uint32_t kWords = sizeof(Counters) / 8;
  if (thread >= kWords) return;
  reinterpret_cast<volatile uint64_t*>(to)[thread] = reinterpret_cast<const volatile uint64_t*>(&from)[thread];
}

/// At the end of a stay, by the workers of whichever block is the last.
__device__ __noinline__ inline void postProgress() {
  BlockShared& shared = blockShared();
  const RankMemory& memory = shared.memory.get();
  for (uint32_t i = threadIdx.x; i < memory.collectives.size(); i += kWorkers) {
    if (memory.collectives[i].registrationNumber != 0) memory.posted[i].post(memory.collectives[i]);
  }
  postCounters(shared.launch.posted.rank, memory.counters, threadIdx.x);
}

/// Now and then, by the leader's polling warp: a few places at a time, of collectives that the leader has heard of in
/// this stay, and seldom of all others.
__device__ __noinline__ inline void postSome(uint32_t turn) {
  constexpr uint32_t kTurnsPerAll = 8;
  BlockShared& shared = blockShared();
  const RankMemory& memory = shared.memory.get();
  const auto places = static_cast<uint32_t>(memory.collectives.size());
  const uint32_t batches = (places + 31) / 32;
  const uint32_t index = turn % batches * 32 + threadIdx.x % 32;
  const bool isOfAll = turn / batches % kTurnsPerAll == 0;
  if (index < places && (isOfAll || shared.tables.heads[index].blockCount != 0)) {
    const CollectiveRecord& record = memory.collectives[index];
    if (*static_cast<const volatile uint32_t*>(&record.registrationNumber) != 0) memory.posted[index].post(record);
  }
  if (turn % batches == 0) postCounters(shared.launch.posted.rank, memory.counters, threadIdx.x % 32);
}

}  // namespace dfccl::gpu

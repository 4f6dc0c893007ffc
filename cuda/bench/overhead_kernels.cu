#include <new>

#include "bench/overheads.cuh"
#include "daemon/rules.hpp"
#include "daemon/state/context_slots.hpp"

namespace dfccl::gpu::bench {
namespace {

__device__ uint64_t clockNow() {
  uint64_t clock;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(clock)::"memory");
  return clock;
}

__device__ void rest(uint64_t cycles) {
  const uint64_t begin = clockNow();
  while (clockNow() - begin < cycles) {
  }
}

template <class Queue>
__global__ void postKernel(Queue queue, uint32_t each, uint32_t* cycles, uint64_t* results) {
  constexpr uint64_t kRest = 4000;
  typename Queue::Producer producer(queue);
  for (uint32_t i = 0; i < each; ++i) {
    const uint32_t slot = blockIdx.x * each + i;
    results[slot] = i;
    const uint64_t cqe = packCqe(slot, CqeStatus::completed, i);
    const uint64_t begin = clockNow();
    while (!producer.post(slot, cqe)) {
    }
    cycles[slot] = static_cast<uint32_t>(clockNow() - begin);
    rest(kRest);
  }
}

__global__ void spmcKernel(SpmcSubmission ring, uint32_t count, uint32_t* cycles) {
  SpmcConsumer<> consumer(ring);
  Sqe sqe;
  for (uint32_t i = 0; i < count; ++i) {
    uint64_t begin;
    do {
      begin = clockNow();
    } while (!consumer.take(sqe));
    cycles[blockIdx.x * count + i] = static_cast<uint32_t>(clockNow() - begin) + (sqe.id == kNoRun);
  }
}

__global__ void leaderKernel(SubmissionRing ring, uint32_t count, uint32_t* cycles) {
  constexpr uint32_t kAll = 0xffffffff;
  __shared__ uint64_t staged[kSqeWords];
  const uint32_t lane = threadIdx.x;
  for (uint32_t i = 0; i < count; ++i) {
    uint64_t begin, value;
    uint32_t there;
    do {
      begin = clockNow();
      value = lane < kSqeWords ? ring.slot(i).words[lane].load(order::relaxed) : 0;
      there = __ballot_sync(kAll, lane < kSqeWords && hasSqeSequence(value, i));
    } while (there != (1u << kSqeWords) - 1);
    if (lane < kSqeWords) staged[lane] = value;
    __syncwarp();
    if (lane == 0) {
      const Sqe sqe = unpackSqe(staged);
      cycles[i] = static_cast<uint32_t>(clockNow() - begin) + (sqe.id == kNoRun);
      ring.header->head.store(i + 1, order::relaxed);
    }
  }
}

/// A platform with a single near context.
struct OneContext {
  using Rules = AllRules;
  static constexpr uint32_t kContextSlots = 1;
  static constexpr bool kTriesAtOnce = false;
  using TaskPlaces = OwnTaskPlaces<1, 1>;
  DFCCL_HD static void mark(TracePoint, uint64_t) {}
  DFCCL_HD static const CollectiveRecord* nearView(uint32_t, const CollectiveRecord& record, const CollectiveRecord*,
                                                   bool) {
    return &record;
  }
};

__global__ void contextKernel(const RankMemory* memory, uint32_t count, bool isDirty, uint32_t* cycles) {
  __shared__ __align__(16) unsigned char slots[sizeof(ContextSlots<OneContext>)];
  __shared__ __align__(16) unsigned char near[sizeof(RankMemory)];
  __shared__ BlockCounters counters;
  for (uint32_t i = 0; i < sizeof(RankMemory); ++i) near[i] = reinterpret_cast<const unsigned char*>(memory)[i];
  auto& rank = reinterpret_cast<RankMemory&>(near);
  auto& contexts = *new (slots) ContextSlots<OneContext>(rank, 0);
  counters = BlockCounters{};
  for (uint32_t task = 0; task < count; ++task) {
    const uint64_t begin = clockNow();
    ContextSlot& slot = contexts.load(rank, rank.blocks[0], counters, task, task);
    const uint32_t used = slot.dynamic.slot;  // has come
    const uint64_t end = clockNow() + (used == kNoRun);
    cycles[task] = static_cast<uint32_t>(end - begin);
    slot.isDirty = isDirty;
  }
}

}  // namespace

DFCCL_HD bool OwnedSlotsByDaemon::Producer::post(uint32_t slot, uint64_t cqe) {
#if defined(__CUDA_ARCH__)
  __threadfence();
#endif
  queue_.slots[slot].store(cqe, order::relaxed);
  return true;
}

template <class Queue>
void launchPosts(const Queue& queue, uint32_t producers, uint32_t each, uint32_t* cycles, uint64_t* results,
                 cudaStream_t stream) {
  postKernel<<<producers, 1, 0, stream>>>(queue, each, cycles, results);
}
template void launchPosts(const CompletionOwnedSlots<>&, uint32_t, uint32_t, uint32_t*, uint64_t*, cudaStream_t);
template void launchPosts(const OwnedSlotsByDaemon&, uint32_t, uint32_t, uint32_t*, uint64_t*, cudaStream_t);
template void launchPosts(const CompletionCasSlots<>&, uint32_t, uint32_t, uint32_t*, uint64_t*, cudaStream_t);
template void launchPosts(const CompletionPackedRing<>&, uint32_t, uint32_t, uint32_t*, uint64_t*, cudaStream_t);
template void launchPosts(const CompletionVanillaRing<>&, uint32_t, uint32_t, uint32_t*, uint64_t*, cudaStream_t);

void launchSpmcReads(const SpmcSubmission& ring, uint32_t blocks, uint32_t count, uint32_t* cycles,
                     cudaStream_t stream) {
  spmcKernel<<<blocks, 1, 0, stream>>>(ring, count, cycles);
}

void launchLeaderReads(const SubmissionRing& ring, uint32_t count, uint32_t* cycles, cudaStream_t stream) {
  leaderKernel<<<1, 32, 0, stream>>>(ring, count, cycles);
}

void launchContextLoads(const RankMemory* memory, uint32_t count, bool isDirty, uint32_t* cycles, cudaStream_t stream) {
  contextKernel<<<1, 1, 0, stream>>>(memory, count, isDirty, cycles);
}

}  // namespace dfccl::gpu::bench

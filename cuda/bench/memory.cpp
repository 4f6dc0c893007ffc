// What registered collectives cost: shared memory of a block, and device memory, by the engine's own account and by
// CUDA's.
#include <cstdio>

#include "bench/all_reduces.hpp"
#include "daemon/state/context_slots.hpp"

namespace dfccl::gpu::bench {
namespace {

size_t usedOn(int device) {
  const OnDevice here(device);
  size_t free = 0, total = 0;
  DFCCL_CUDA(cudaMemGetInfo(&free, &total));
  return total - free;
}

/// Shared and global memory of a block, whatever is registered.
void printBlock(const RankLimits& limits) {
  const size_t queue = kSharedTasks * sizeof(QueueEntry);
  const size_t tables = sizeof(BlockTables);
  const size_t saved = queue + limits.completionSlots * sizeof(uint32_t) + limits.collectives * sizeof(uint32_t) +
                       kMostCollectives + sizeof(BlockMemory);
  const size_t kept = sizeof(KeptTasks);
  std::printf(
      "{\"bench\":\"memory\",\"what\":\"a block\",\"sharedBytes\":{\"all\":%zu,\"taskQueue\":%zu,\"daemon\":%u,"
      "\"contexts\":%zu,\"preparedParts\":%zu,\"indexTables\":%zu,\"nearImages\":%u},"
      "\"globalBytes\":{\"savedQueueAndTables\":%zu,\"keptTasks\":%zu,\"staging\":%zu,\"trace\":%zu}}\n",
      sizeof(BlockShared), queue, kDaemonBytes, kNearContexts * sizeof(ContextSlot),
      kNearContexts * sizeof(PreparedPart), tables, kNearImages * kImageBytes, saved, kept, size_t{2 * kStagingBytes},
      sizeof(TraceRing));
  std::printf(
      "{\"bench\":\"memory\",\"what\":\"a rank's tables, for all blocks\",\"globalBytes\":{\"records\":%zu,"
      "\"contexts\":%zu,\"runs\":%zu,\"pendingRuns\":%zu,\"feed\":%zu}}\n",
      limits.collectives * sizeof(CollectiveRecord), limits.tasks * sizeof(TaskContext),
      limits.completionSlots * sizeof(RunRecord),
      limits.completionSlots * (sizeof(PendingRun) + sizeof(uint64_t)) + limits.collectives * sizeof(uint32_t),
      feedCapacity(limits) * sizeof(FeedLine));
}

}  // namespace

/// --collectives, --bytes of each; --form direct (all-gathers) or exchange (all-reduces).
int runMemory(const Arguments& arguments) {
  const uint64_t collectives = arguments.number("--collectives", 1000);
  const size_t bytes = arguments.number("--bytes", 16 << 10);
  const bool isExchange = arguments.text("--form", "direct") == "exchange";
  DFCCL_CUDA(cudaFree(nullptr));  // makes the context
  const size_t before = usedOn(0);
  Bed bed(arguments);
  GpuRank& rank = bed.world().rank(0);
  printBlock(rank.limits());
  const size_t opened = usedOn(rank.device()), arenaBefore = rank.arena().usedBytes();
  CollectiveSpec spec;
  spec.collective = isExchange ? Collective::allReduce : Collective::allGather;
  spec.count = bytes / sizeof(float);
  spec.ranks = everyRank(bed.ranks());
  uint64_t registered = 0;
  std::string refusal;
  size_t ofRank = 0;
  try {
    for (; registered < collectives; ++registered) {
      spec.id = static_cast<uint32_t>(registered);
      for (uint32_t r = 0; r < bed.ranks(); ++r) {
        const uint32_t index = bed.world().registerCollective(r, spec, 1);
        if (r == 0) ofRank += bed.world().memoryBytesOf(0, index);
      }
    }
  } catch (const Error& error) {
    refusal = error.what();
  }
  const size_t registeredBytes = rank.arena().usedBytes() - arenaBefore;
  // What the parts of an exchange land in: two halves, of as many bytes of flags as of data from every rank.
  const size_t landing = isExchange ? 2 * bed.ranks() * 2 * bytes : 0;
  std::printf(
      "{\"bench\":\"memory\",\"what\":\"registered\",\"form\":\"%s\",\"bytes\":%zu,\"ranks\":%u,\"collectives\":%lu,"
      "\"refusal\":\"%s\",\"arenaBytes\":%zu,\"aCollective\":%.0f,\"accounted\":%.0f,\"ofThatLanding\":%zu,"
      "\"arenaCapacity\":%zu,\"cudaBytes\":{\"world\":%zd,\"registration\":%zd}}\n",
      isExchange ? "exchange" : "direct", bytes, bed.ranks(), registered, refusal.c_str(), registeredBytes,
      static_cast<double>(registeredBytes) / static_cast<double>(registered),
      static_cast<double>(ofRank) / static_cast<double>(registered), landing, rank.arena().capacity(),
      static_cast<ssize_t>(opened - before), static_cast<ssize_t>(usedOn(rank.device()) - opened));
  return 0;
}

}  // namespace dfccl::gpu::bench

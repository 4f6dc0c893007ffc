#include "cpu/cpu_rank_memory.hpp"

#include <memory>

namespace dfccl {
namespace {

size_t linesOf(size_t bytes) { return (bytes + 63) / 64; }

}  // namespace

namespace detail {

CpuRankTables::Block::Block(const RankLimits& limits)
    : queue(limits.tasks),
      savedQueue(limits.tasks),
      takenRuns(slotsMade(limits)),
      nextRun(slotsMade(limits)),
      lastRun(limits.collectives) {}

CpuRankTables::CpuRankTables(const RankLimits& limits, const SharedTables& shared)
    : runTable(slotsMade(limits)),
      partsTable(slotsMade(limits)),
      collectiveTable(shared.collectives == nullptr ? limits.collectives : 0),
      resultStores(limits.collectives),
      contextTable(limits.tasks),
      activeTable(limits.tasks),
      blockTable(limits.grid),
      submissionMemory(linesOf(SubmissionRing::bytes(limits.submissionSlots))),
      completionMemory(linesOf(CompletionOwnedSlots<>::bytes(slotsMade(limits)))),
      feedMemory(linesOf(BlockFeed::bytes(feedCapacity(limits), feedReaders(limits.grid)))) {
  for (uint32_t b = 0; b < limits.grid; ++b) {
    Block& tables = blockTables.emplace_back(limits);
    blockTable[b].queue = arrayOf(tables.queue);
    blockTable[b].savedQueue = arrayOf(tables.savedQueue);
    blockTable[b].takenRuns = arrayOf(tables.takenRuns);
    blockTable[b].nextRun = arrayOf(tables.nextRun);
    blockTable[b].lastRun = arrayOf(tables.lastRun);
  }
}

}  // namespace detail

CpuRankMemory::CpuRankMemory(uint32_t rankNumber, const RankLimits& rankLimits,
                             const scheduling::SchedulePolicy& schedulePolicy, const SharedTables& shared)
    : CpuRankTables(rankLimits, shared),
      RankMemory{.rank = rankNumber,
                 .limits = rankLimits,
                 .policy = schedulePolicy,
                 .residency = residencyMemory,
                 .control = shared.control == nullptr ? controlMemory : *shared.control,
                 .counters = counterMemory} {
  submissions = SubmissionRing::create(submissionMemory.data(), limits.submissionSlots);
  completions = CompletionOwnedSlots<>::create(completionMemory.data(), slotsMade(limits), 0, true);
  runs = arrayOf(runTable);
  partsAtEnd = arrayOf(partsTable);
  collectives =
      shared.collectives == nullptr ? arrayOf(collectiveTable) : Array{shared.collectives, limits.collectives};
  contexts = arrayOf(contextTable);
  isActive = arrayOf(activeTable);
  blocks = arrayOf(blockTable);
  feed = BlockFeed::create(feedMemory.data(), feedCapacity(limits), feedReaders(limits.grid), 0, true);
}

ResultStores* CpuRankMemory::renewStores(uint32_t index) { return std::construct_at(&resultStores[index]); }

Array<QueueEntry> CpuRankMemory::growTaskQueue(uint32_t block) {
  Block& tables = blockTables[block];
  tables.queue.grow(2 * tables.queue.size());
  tables.savedQueue.grow(tables.queue.size());
  blocks[block].queue = arrayOf(tables.queue);
  blocks[block].savedQueue = arrayOf(tables.savedQueue);
  return blocks[block].queue;
}

}  // namespace dfccl

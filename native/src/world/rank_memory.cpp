#include "dfccl/daemon/rank_memory.hpp"

#include <bit>
#include <cstdlib>
#include <cstring>
#include <string>

#include "error.hpp"

namespace dfccl {

void RankMemory::FreeAligned::operator()(void* p) const { std::free(p); }

RankMemory::Memory RankMemory::allocate(size_t bytes) {
  const size_t rounded = (bytes + 4095) / 4096 * 4096;
  void* memory = std::aligned_alloc(4096, rounded);
  if (memory == nullptr) {
    throw Error(dfcclOutOfMemory,
                "The queues of a rank need " + std::to_string(rounded) + " bytes, which the system refused.",
                "Open the world with fewer ranks or smaller queues.", {{"bytes", std::to_string(rounded)}});
  }
  std::memset(memory, 0, rounded);
  return Memory(memory);
}

RankMemory::RankMemory(uint32_t rankNumber, const RankLimits& rankLimits,
                       const scheduling::SchedulePolicy& schedulePolicy)
    : rank(rankNumber),
      limits(rankLimits),
      policy(schedulePolicy),
      runs(rankLimits.completionSlots),
      collectives(rankLimits.collectives),
      contexts(rankLimits.tasks),
      isActive(rankLimits.tasks, 0),
      blocks(rankLimits.grid) {
  for (BlockMemory& block : blocks) {
    block.savedQueue.resize(limits.tasks);
    block.nextRun.assign(limits.completionSlots, kNoRun);
    block.lastRun.assign(limits.collectives, kNoRun);
  }
  submissionMemory_ = allocate(SubmissionRing::bytes(limits.submissionSlots));
  submissions = SubmissionRing::create(submissionMemory_.get(), limits.submissionSlots);
  completionMemory_ = allocate(CompletionOwnedSlots<>::bytes(limits.completionSlots));
  completions = CompletionOwnedSlots<>::create(completionMemory_.get(), limits.completionSlots);
  // Every run in flight and every control request fits, so the leader waits for a slow block only when it would lap it.
  const uint32_t feedCapacity = std::bit_ceil(limits.completionSlots + ControlRing::kCapacity + 2);
  feedMemory_ = allocate(BlockFeed::bytes(feedCapacity, limits.grid));
  feed = BlockFeed::create(feedMemory_.get(), feedCapacity, limits.grid);
}

}  // namespace dfccl

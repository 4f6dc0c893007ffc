#pragma once
#include <vector>

#include "dfccl/daemon/rank_memory.hpp"

namespace dfccl::test {

/// Memory for runs that wait for streams, given to a rank that has none of its own.
class PendingTables {
 public:
  explicit PendingTables(RankMemory& memory)
      : words_(NoticeRing::capacityFor(memory.limits.completionSlots)),
        runs_(memory.limits.completionSlots),
        lastOfId_(memory.limits.collectives, kNoPending) {
    header_.ready.store(kNoPending, order::relaxed);
    memory.pending = {
        {&header_, words_.data(), static_cast<uint32_t>(words_.size())}, arrayOf(runs_), arrayOf(lastOfId_)};
  }

 private:
  NoticeRing::Header header_;
  std::vector<Atomic<uint64_t, Scope::device>> words_;
  std::vector<PendingRun> runs_;
  std::vector<uint32_t> lastOfId_;
};

}  // namespace dfccl::test

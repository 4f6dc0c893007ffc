#pragma once
#include <vector>

#include "daemon/state/rank_memory.hpp"

namespace dfccl::test {

/// Memory for runs that wait for streams, given to a rank that has none of its own. Each completion slot has a line.
class PendingTables {
 public:
  explicit PendingTables(RankMemory& memory)
      : runs_(memory.limits.completionSlots),
        lastOfId_(memory.limits.collectives, kNoPending),
        lines_(memory.limits.completionSlots, StreamLine{kNoPending, kNoPending, 0}),
        arrived_(memory.limits.completionSlots),
        opened_(memory.limits.completionSlots) {
    memory.pending = {&header_,        arrayOf(runs_),    arrayOf(lastOfId_),
                      arrayOf(lines_), arrayOf(arrived_), arrayOf(opened_)};
  }

 private:
  PendingMemory::Header header_{kNoPending, 0, 0, 0};
  std::vector<PendingRun> runs_;
  std::vector<uint32_t> lastOfId_;
  std::vector<StreamLine> lines_;
  std::vector<Atomic<uint32_t, Scope::device>> arrived_;
  std::vector<Atomic<uint32_t>> opened_;
};

}  // namespace dfccl::test

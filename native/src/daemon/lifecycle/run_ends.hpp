#pragma once
// How a run is over on a rank, once its last block has counted: the collective's next one may begin, and the host is
// told.
#include <cstdint>

#include "daemon/lifecycle/outcome.hpp"
#include "daemon/state/rank_memory.hpp"

namespace dfccl {

template <class P>
class RunEnds {
 public:
  /// @param block where.
  DFCCL_HD RunEnds(RankMemory& memory, uint32_t block) : view_(memory, block) {}

  // Added, not stored: once an id is aborted, a run that came in late can end before one that was in flight. Blocks may
  // do so at the same time, where there are several.
  DFCCL_HD void countFinished(CollectiveRecord& c, uint32_t blockCount) const {
    if (view_.rank().limits.grid == 1 || blockCount == 1) {
      P::increment(c.finishedRuns);
    } else {
      c.finishedRuns.fetchAdd(1, order::release);
    }
  }

  DFCCL_HD static CqeStatus statusOf(bool isAborted) { return isAborted ? CqeStatus::aborted : CqeStatus::completed; }
  DFCCL_HD static CqeStatus statusOf(Outcome outcome) {
    if (P::kCountsPerRun && outcome == Outcome::mismatched) return CqeStatus::mismatched;
    return statusOf(outcome == Outcome::aborted);
  }

  /// @param isOrdered something has already ordered what was written before it.
  DFCCL_HD void tellHost(uint32_t slot, uint32_t collective, uint64_t run, CqeStatus status, bool isOrdered) const {
    P::postCompletion(view_.rank(), slot, packCqe(collective, status, run), isOrdered);
  }

  /// Counts parts of a run whose buffers this block will not touch any more. The last block tells the host.
  DFCCL_HD void countAborted(uint32_t slot, const RunAddresses& run, CollectiveRecord& c, uint32_t parts) const {
    RunCount& count = view_.rank().runs[slot].blocksDone;
    if (count.count(parts, c.blockCount, run.partsAtEnd, true) == RunProgress::blocksLeft) return;
    countFinished(c, c.blockCount);
    tellHost(slot, c.index, run.run, CqeStatus::aborted, false);
  }

 private:
  typename P::BlockView view_;
};

}  // namespace dfccl

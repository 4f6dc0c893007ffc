#pragma once
#include <cstdint>

#include "daemon/state/records.hpp"

namespace dfccl {

/// Whether all runs of the collective before this one are over on this rank. With a single block there is nobody to
/// wait for: it begins a run when it has ended the one before.
template <class P>
DFCCL_HD inline bool isTurnOf(const CollectiveRecord& collective, uint32_t blockCount, uint64_t run) {
  if (!P::Rules::runsInOrder || blockCount == 1) return true;
  if (collective.finishedRuns.load(P::kLook) != run) return false;
  P::foundTurn(collective.finishedRuns);
  return true;
}

}  // namespace dfccl

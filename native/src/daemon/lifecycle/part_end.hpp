#pragma once
#include <cstdint>

#include "daemon/lifecycle/outcome.hpp"
#include "daemon/state/run_count.hpp"

namespace dfccl {

/// Counts a block's part of a run, which it did, and says how the visit ends by that: a block of this rank is not done,
/// or some gave their part up, so that the result is not complete, here or at the peers.
/// @param total,partsAtEnd of the run, as for RunCount::count(). @return completed: all did their part. Of blockDone,
/// the run may be over, and everything of it gone.
DFCCL_HD inline Outcome endPart(RunCount& count, uint32_t total, uint32_t partsAtEnd) {
  switch (count.count(1, total, partsAtEnd)) {
    case RunProgress::blocksLeft:
      return Outcome::blockDone;
    case RunProgress::aborted:
      return Outcome::aborted;
    case RunProgress::finished:
      break;
  }
  return Outcome::completed;
}

}  // namespace dfccl

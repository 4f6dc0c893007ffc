#pragma once
// What the leader tells the blocks of its daemon: one sequence, which every block reads at its own pace. So all blocks
// see the same runs and the same quit marker in the same order (correctness.md, "Quit and restart"). The leader's own
// block is told directly, in the same order; what is for it alone does not enter the sequence.
#include <cstdint>

#include "daemon/state/records.hpp"
#include "queues/leader_broadcast.hpp"

namespace dfccl {

struct FeedEntry {
  enum Kind : uint16_t {
    run,     // value: index of a run record
    abort,   // value: index of a collective whose id was aborted
    forget,  // a place is given to another collective: collective, firstTask, blockCount
    drain,   // the stay is over: every block tries what it has not tried, and takes nothing more
    quit,    // all blocks stop here
  };
  Kind kind;
  uint16_t blockCount = 0;  // of a run: its program blocks
  uint32_t value = 0;
  // Of a run, all that a block needs to take it in: what it had to look up would cost it a trip to memory each, and the
  // leader, who would have to see to it that it is there, another.
  uint32_t collective = 0;  // index
  uint32_t firstTask = 0;
  int32_t priority = 0;
  uint16_t firstBlock = 0;  // see CollectiveHead
  uint16_t isTurn = 0;      // all runs before it are over on this rank: no block need look
  RunAddresses addresses{};
};

using BlockFeed = LeaderBroadcast<FeedEntry>;

/// Readers of the feed of a grid: all blocks but the leader's.
DFCCL_HD constexpr uint32_t feedReaders(uint32_t grid) { return grid > 1 ? grid - 1 : 1; }
DFCCL_HD constexpr uint32_t feedReader(uint32_t block) { return block > 0 ? block - 1 : 0; }

}  // namespace dfccl

#pragma once
// What the leader tells the blocks of its daemon, itself included: one sequence, which every block reads at its own
// pace. So all blocks see the same runs and the same quit marker in the same order (correctness.md, "Quit and
// restart").
#include <cstdint>

#include "dfccl/queues/leader_broadcast.hpp"

namespace dfccl {

struct FeedEntry {
  enum Kind : uint16_t {
    run,    // value: index of a run record
    abort,  // value: index of a collective whose id was aborted
    drain,  // the stay is over: every block tries what it has not tried, and takes nothing more
    quit,   // all blocks stop here
  };
  Kind kind;
  // Of a run: the blocks from here on have no part in it. They must not look at its record: the others may be done by
  // the time they come here, and the record another run's.
  uint16_t blockCount;
  uint32_t value;
};

using BlockFeed = LeaderBroadcast<FeedEntry>;

}  // namespace dfccl

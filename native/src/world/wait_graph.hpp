#pragma once
// Who waits for whom, as DFCCL, section 2.4.1 defines it, for the control that keeps collectives in order. A cycle
// is a deadlock: nobody on it can ever go on.
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "world/collective_id.hpp"

namespace dfccl {

/// What one rank holds and wants at one moment.
struct RankSituation {
  struct Part {
    CollectiveId id;
    uint64_t run;
  };
  std::vector<Part> executing;   // holding resources, waiting for their counterparts
  std::vector<Part> queued;      // submitted, behind what executes
  bool isSynchronizing = false;  // submits nothing until what executes is done
};

/// The members (world ranks) of a collective's run.
struct RunMembers {
  CollectiveId id;
  uint64_t run;
  std::vector<uint32_t> ranks;
};

struct DeadlockReport {
  struct Node {
    uint32_t rank;
    CollectiveId id;
    uint64_t run;
    const char* state;  // "executing", "queued" or "not submitted"
    std::string name;   // of the collective, as its caller knows it
  };
  std::vector<Node> cycle;  // each waits for the next, the last for the first
  std::string text;
};

/// @param nameOf asked for what is on the cycle only.
/// @return the shortest cycle through the first rank that is on one; an empty cycle where there is none.
DeadlockReport findDeadlock(const std::vector<RankSituation>& ranks, const std::vector<RunMembers>& runs,
                            const std::function<std::string(const CollectiveId&)>& nameOf);

}  // namespace dfccl

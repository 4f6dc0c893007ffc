#pragma once
// What the leader keeps: its ends of the queues, how far it has read and passed on, and what a decision to leave
// depends on.
#include <cstdint>
#include <type_traits>

#include "daemon/loop/block_intake.hpp"

namespace dfccl {

template <class P>
class LeaderState {
 protected:
  DFCCL_HD explicit LeaderState(RankMemory& memory)
      : m_(memory),
        submissions_(memory),
        feed_(memory),
        pending_(memory.pending),
        controlHead_(memory.control.head.load(order::relaxed)),
        submissionsTaken_(memory.counters.submissionsTaken.read()),
        stepsPerDecision_(stepsPerDecision(memory.policy.quit.idleVisits)) {}

  DFCCL_HD bool hasRoom() { return m_.limits.grid == 1 || feed_.hasRoom(); }

  /// To all blocks, in one order.
  DFCCL_HD DFCCL_COLD bool tell(P& platform, BlockIntake<P>& own, const FeedEntry& entry) {
    // What the host wrote before it asked: a run needs no more than its entry.
    P::releaseEntry();
    if (m_.limits.grid != 1 && !feed_.tryPublish(entry)) return false;
    own.queue(platform, entry, Attempt{});
    return true;
  }

  RankMemory& m_;
  typename P::Submissions submissions_;
  typename P::FeedLeader feed_;
  std::conditional_t<P::kHasStreams, PendingRuns<P>, NoPendingRuns> pending_;
  scheduling::QuitState quit_{};
  uint64_t seenProgress_ = 0;      // of the other blocks, at the last decision
  uint64_t controlHead_;           // requests passed on
  uint64_t submissionsTaken_;      // runs passed on
  uint32_t lastCollective_ = ~0u;  // the last one of which a run was passed on, in this stay
  uint64_t otherRunsTaken_ = 0;    // ... and runs before its first one since others
  bool isDraining_ = false;
  bool isLeaving_ = false;
  bool hasLooked_ = false;  // in this stay
  const uint32_t stepsPerDecision_;
  uint32_t stepsSinceDecision_ = 0;
  /// What came since the last decision: in one word, because two neighbouring bytes would be read as one word
  /// right after two stores of one byte, which takes as long as a lock.
  static constexpr uint32_t kFetched = 1, kProgressed = 2;
  uint32_t seen_ = 0;

 private:
  DFCCL_HD static uint32_t stepsPerDecision(uint32_t idleVisits) {
    constexpr uint32_t kMost = P::kStepsPerDecision;
    if (idleVisits == 0) return 1;
    return idleVisits < kMost ? idleVisits : kMost;
  }
};

}  // namespace dfccl

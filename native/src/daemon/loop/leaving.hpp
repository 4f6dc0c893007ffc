#pragma once
// When the daemon leaves. The leader decides, from what all blocks have come to, and tells them at one position of the
// sequence, so that they leave as a whole (DFCCL, section 4.4); each saves there what it has under way.
#include <cstdint>

#include "daemon/loop/leader_state.hpp"

namespace dfccl {

template <class P>
class Leaving : public LeaderState<P> {
  using State = LeaderState<P>;
  using State::kFetched, State::kProgressed, State::seen_;
  using State::quit_, State::seenProgress_, State::stepsPerDecision_, State::stepsSinceDecision_;

 protected:
  using State::hasLooked_, State::isDraining_, State::isLeaving_, State::m_;
  using State::hasRoom, State::tell;

 public:
  using Rules = typename P::Rules;

  /// A stay begins.
  DFCCL_HD void enter(uint64_t now) {
    quit_ = scheduling::startedAt(now);
    isDraining_ = false;
    isLeaving_ = false;
    hasLooked_ = false;
    seen_ = 0;
    stepsSinceDecision_ = 0;
    seenProgress_ = otherBlocksProgress();
  }

  /// After the leader's own block stepped. Facts are gathered over a few steps, because a look at the clock costs as
  /// much as a small collective, and only so many quiet visits can lead to a decision.
  DFCCL_HD void decide(P& platform, BlockIntake<P>& own, bool fetched, bool progressed) {
    if (isLeaving_ || !own.isInside()) return;
    seen_ |= (fetched ? kFetched : 0) | (progressed ? kProgressed : 0);
    if (++stepsSinceDecision_ < stepsPerDecision_) return;
    scheduling::QuitEvent event{};
    event.now = platform.now();
    event.fetched = (seen_ & kFetched) != 0;
    event.queueLength = own.queueLength();
    event.allStuck = own.isAllStuck();
    event.triedAll = own.isTriedAll();
    event.progressed = (seen_ & kProgressed) != 0;
    addOtherBlocks(event);
    scheduling::QuitPolicy policy = m_.policy.quit;
    if (!Rules::boundedResidency) policy.residencyTicks = 0;
    if (!Rules::everyStayTriesAll) event.triedAll = true;
    // The transition counts one visit; the other steps were quiet too, or the count begins anew.
    quit_.quietVisits = scheduling::saturatingAdd(quit_.quietVisits, stepsSinceDecision_ - 1);
    const scheduling::QuitDecision decision = scheduling::transition(policy, quit_, event);
    quit_ = decision.state;
    stepsSinceDecision_ = 0;
    seen_ = 0;
    // Nothing is fetched after the drain, so then nobody has come to wait.
    if ((decision.drain || decision.quit) && !isDraining_ && mustStay()) return stayOn(event.now);
    if (decision.drain && !isDraining_ && tell(platform, own, {FeedEntry::drain})) isDraining_ = true;
    if (decision.quit) leave(platform, own);
  }

 protected:
  DFCCL_HD explicit Leaving(RankMemory& memory) : State(memory) {}

  DFCCL_HD DFCCL_COLD void leave(P& platform, BlockIntake<P>& own) {
    if (!hasRoom()) return;
    isLeaving_ = true;
    m_.counters.quits.add(1);
    tell(platform, own, {FeedEntry::quit});
  }

 private:
  /// Whether a stream waits. The host looks the other way round, see waiting_streams.hpp.
  DFCCL_HD DFCCL_COLD bool mustStay() {
    if constexpr (!P::kHasStreams) return false;
    if (Rules::saysThatItLeaves) P::willLeave(m_);
    return Rules::staysForStreams && P::isAnybodyWaiting(m_);
  }

  /// As if the stay had only begun.
  DFCCL_HD DFCCL_COLD void stayOn(uint64_t now) {
    quit_ = scheduling::startedAt(now);
    P::stayedOn(m_, now);
  }

  DFCCL_HD uint64_t otherBlocksProgress() const {
    uint64_t sum = 0;
    for (uint32_t b = 1; b < m_.limits.grid; ++b) sum += BlockFacts::of(P::facts(m_, b)).progress;
    return sum;
  }

  DFCCL_HD void addOtherBlocks(scheduling::QuitEvent& event) {
    if (m_.limits.grid == 1) return;
    uint64_t progress = 0;
    for (uint32_t b = 1; b < m_.limits.grid; ++b) {
      const BlockFacts facts = BlockFacts::of(P::facts(m_, b));
      progress += facts.progress;
      event.queueLength += facts.queueLength;
      event.allStuck &= facts.isAllStuck;
      event.triedAll &= facts.isTriedAll;
    }
    event.progressed |= progress != seenProgress_;
    seenProgress_ = progress;
  }
};

}  // namespace dfccl

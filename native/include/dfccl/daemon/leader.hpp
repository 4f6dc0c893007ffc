#pragma once
// The leader's work beside its own block: it alone reads the host's queue, passes runs on to all blocks, and decides
// when the daemon leaves, for all of them at one position of the sequence (dfccl.txt section 4.4).
#include <cstdint>

#include "dfccl/daemon/block_daemon.hpp"

namespace dfccl {

template <class P>
class Leader {
 public:
  using Rules = typename P::Rules;

  explicit Leader(RankMemory& memory) : m_(memory), submissions_(memory.submissions), feed_(memory.feed) {}

  void enter(uint64_t now) {
    quit_ = scheduling::startedAt(now);
    isDraining_ = false;
    isLeaving_ = false;
    hasLooked_ = false;
    seenProgress_ = otherBlocksProgress();
  }

  /// Something of the host's that no block knows yet. Any thread asks, so only what is shared is looked at.
  bool hasWork() const {
    return Residency::hasUnseen(m_.submissions) ||
           m_.control.tail.load(order::acquire) != m_.control.head.load(order::relaxed);
  }

  /// Before the leader's own block steps. @return whether anything was passed on.
  bool fetch(BlockDaemon<P>& own) {
    if (isLeaving_) return false;
    bool any = passControlOn();
    // The first look of a stay doesn't ask the policy: one that waits until all are stuck would never look again if
    // every stay ended before that, and what the others wait for might be in the queue.
    if (isDraining_ || (hasLooked_ && !own.shouldFetch())) return any;
    hasLooked_ = true;
    uint32_t taken = 0;
    Sqe sqe;
    while (taken < m_.policy.order.fetchBatch && feed_.hasRoom() && submissions_.peek(sqe)) {
      submissions_.pop();
      ++taken;
      if (sqe.flags & kSqeExit) {
        m_.residency.exited.store(1, order::seqCst);
        leave();
        break;
      }
      passOn(sqe);
    }
    if (taken == 0) {
      own.noteFetchedNothing();
      return any;
    }
    submissions_.release();
    m_.counters.submissionsTaken.add(taken);
    return true;
  }

  /// After the leader's own block stepped.
  void decide(P& platform, BlockDaemon<P>& own, bool fetched, bool progressed) {
    if (isLeaving_ || !own.isInside()) return;
    scheduling::QuitEvent event{};
    event.now = platform.now();
    event.fetched = fetched;
    event.queueLength = own.queueLength();
    event.allStuck = own.isAllStuck();
    event.triedAll = own.isTriedAll();
    event.progressed = progressed;
    addOtherBlocks(event);
    scheduling::QuitPolicy policy = m_.policy.quit;
    if (!Rules::boundedResidency) policy.residencyTicks = 0;
    if (!Rules::everyStayTriesAll) event.triedAll = true;
    const scheduling::QuitDecision decision = scheduling::transition(policy, quit_, event);
    quit_ = decision.state;
    if (decision.drain && !isDraining_ && feed_.tryPublish({FeedEntry::drain, 0, 0})) isDraining_ = true;
    if (decision.quit) leave();
  }

 private:
  void passOn(const Sqe& sqe) {
    RunRecord& run = m_.runs[sqe.completionSlot];
    CollectiveRecord& c = m_.collectives[sqe.id];
    // The leader numbers the runs of an id, so that any number of threads may submit it.
    const uint64_t number = c.submittedRuns.load(order::relaxed);
    run.run = number;
    run.sendAddress = sqe.sendAddress;
    run.recvAddress = sqe.recvAddress;
    run.collective = sqe.id;
    run.blocksDone.reset();
    c.submittedRuns.store(number + 1, order::release);
    feed_.tryPublish({FeedEntry::run, static_cast<uint16_t>(c.program->header.blockCount), sqe.completionSlot});
  }

  bool passControlOn() {
    const uint64_t head = m_.control.head.load(order::relaxed);
    if (m_.control.tail.load(order::acquire) == head || !feed_.hasRoom()) return false;
    const uint32_t collective = m_.control.collectives[head % ControlRing::kCapacity].load(order::relaxed);
    feed_.tryPublish({FeedEntry::abort, 0, collective});
    m_.control.head.store(head + 1, order::release);
    return true;
  }

  void leave() {
    if (feed_.tryPublish({FeedEntry::quit, 0, 0})) {
      isLeaving_ = true;
      m_.counters.quits.add(1);
    }
  }

  uint64_t otherBlocksProgress() const {
    uint64_t sum = 0;
    for (uint32_t b = 1; b < m_.limits.grid; ++b) sum += m_.blocks[b].progress.load(order::acquire);
    return sum;
  }

  void addOtherBlocks(scheduling::QuitEvent& event) {
    if (m_.limits.grid == 1) return;
    const uint64_t progress = otherBlocksProgress();
    event.progressed |= progress != seenProgress_;
    seenProgress_ = progress;
    for (uint32_t b = 1; b < m_.limits.grid; ++b) {
      event.queueLength += m_.blocks[b].queueLength.load(order::relaxed);
      event.allStuck &= m_.blocks[b].isAllStuck.load(order::relaxed) != 0;
      event.triedAll &= m_.blocks[b].isTriedAll.load(order::relaxed) != 0;
    }
  }

  RankMemory& m_;
  EngineSubmissionConsumer submissions_;
  BlockFeedLeader feed_;
  scheduling::QuitState quit_{};
  uint64_t seenProgress_ = 0;
  bool isDraining_ = false;
  bool isLeaving_ = false;
  bool hasLooked_ = false;  // in this stay
};

}  // namespace dfccl

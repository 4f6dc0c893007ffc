#pragma once
// The leader's work beside its own block: it alone reads the host's queue, numbers the runs and passes them on to all
// blocks, in one order. When the daemon leaves is its decision too: leaving.hpp.
#include <cstdint>

#include "daemon/loop/leaving.hpp"

namespace dfccl {

template <class P>
class Leader : public Leaving<P> {
  using Stay = Leaving<P>;
  using Stay::controlHead_, Stay::hasLooked_, Stay::lastCollective_, Stay::otherRunsTaken_, Stay::submissionsTaken_;
  using Stay::feed_, Stay::isDraining_, Stay::isLeaving_, Stay::m_, Stay::pending_, Stay::submissions_;
  using Stay::hasRoom, Stay::leave, Stay::tell;

 public:
  using Rules = typename P::Rules;

  DFCCL_HD explicit Leader(RankMemory& memory) : Stay(memory) {}

  /// Something of the host's that no block knows yet. Any thread asks, so only what is shared is looked at.
  bool hasWork() const {
    if constexpr (P::kHasStreams) {
      if (P::hasArrivals(m_)) return true;
    }
    return Residency::hasUnseen(m_.submissions) ||
           m_.control.tail.load(order::acquire) != m_.control.head.load(order::relaxed);
  }

  /// Before the leader's own block steps. @return whether anything was passed on.
  DFCCL_HD bool fetch(P& platform, BlockIntake<P>& own) {
    // All that the way to an entry depends on is looked up before the first decision: one after the other, each look
    // would wait for the one before.
    // What is known of the requests may be older than those that an entry has asked to catch up with.
    const bool isAsked = static_cast<int64_t>(P::controlTail(m_) - controlHead_) > 0;
    const bool isOpen = hasRoom() & !isDraining_ & !isLeaving_;
    const bool hasLooked = hasLooked_;
    const uint32_t most = m_.policy.order.fetchBatch;
    if (isLeaving_) return false;
    bool any = false;
    if (isAsked) [[unlikely]]
      any = passControlOn(platform, own);
    // The first look of a stay doesn't ask the policy: one that waits until all are stuck would never look again if
    // every stay ended before that, and what the others wait for might be in the queue.
    if (!isOpen || (hasLooked && !looksAlways() && !own.shouldFetch())) return any;
    hasLooked_ = true;
    uint32_t taken = 0;
    Sqe sqe;
    bool mayHavePending = pending_.mayHaveNext(P::arrivals(m_));
    // What was passed on since the first look may have taken the last place.
    while (taken < most && ((taken == 0 && !any) || hasRoom())) {
      // First what has waited, so that of one id it comes before what is in the queue.
      if (mayHavePending) [[unlikely]] {
        mayHavePending = passWaitedOn(platform, own);
        taken += mayHavePending;
        continue;
      }
      if (!submissions_.peek(sqe)) break;
      if ((sqe.flags & kSqeAfterControl) && !catchUpWithControl(platform, own)) [[unlikely]]
        break;
      const bool waits = pending_.mustWait(sqe);
      if (!Rules::waitsApart && waits && !pending_.isOpen(sqe)) break;
      submissions_.pop();
      ++taken;
      if (sqe.flags & kSqeExit) [[unlikely]] {
        m_.residency.exited.store(1, order::seqCst);
        leave(platform, own);
        break;
      }
      if (waits) [[unlikely]] {
        const Sqe held = sqe;  // a copy lies in memory where it is looked up by reference, not the entry itself
        if (!pending_.mayPass(held)) {
          pending_.hold(held);
          P::awaitLines(m_, pending_.awaitedLines());
          letGo();
          mayHavePending = pending_.mayHaveNext(P::arrivals(m_));
          continue;
        }
      }
      passOn(platform, own, sqe);
    }
    if (taken == 0) {
      own.noteFetchedNothing();
      return any;
    }
    if (!P::kTriesAtOnce) letGo();
    return true;
  }

  /// Whether another entry of the host's is known to be there.
  DFCCL_HD bool hasMore() const { return submissions_.hasMore(); }

 private:
  /// Where other blocks wait for what it passes on, what its own block still has to do is no reason not to look.
  DFCCL_HD bool looksAlways() const { return P::kRoundTurns != 0 && m_.limits.grid != 1; }

  /// A run, to the blocks that have a part in it. @pre hasRoom()
  DFCCL_HD DFCCL_HOT void passOn(P& platform, BlockIntake<P>& own, const Sqe& sqe) {
    CollectiveHead& c = P::headOf(m_, sqe.id);
    const uint64_t posted = P::kSpreads ? P::completionsPosted(m_) : 0;
    const bool isTurn = P::kSpreads && posted == submissionsTaken_;
    if (P::kSpreads && sqe.id != lastCollective_) {
      lastCollective_ = sqe.id;
      otherRunsTaken_ = submissionsTaken_;
    }
    const bool isAlone = c.blockCount == 1 ? posted >= otherRunsTaken_ && !own.hasOthersThan(sqe.id) : isTurn;
    if (P::kSpreads && c.isMovable != 0 && (isAlone == (c.firstBlock != 0) || isAlone != (c.wasAlone != 0))) {
      move(sqe.id, c, isAlone);
    }
    // The leader numbers the runs of an id, so that any number of threads may submit it.
    uint32_t& partsAtEnd = P::partsAtEnd(m_, sqe.completionSlot);
    partsAtEnd += RunCount::counted(c.blockCount);
    if constexpr (P::kCountsPerRun) {
      const CollectiveRecord& of = m_.collectives[sqe.id];
      if (of.hasCountPerRun || of.rings != nullptr) m_.runs[sqe.completionSlot].count = sqe.count;
    }
    const RunAddresses addresses{c.submittedRuns.load(order::relaxed),
                                 sqe.sendAddress,
                                 sqe.recvAddress,
                                 partsAtEnd,
                                 sqe.sendWindow,
                                 sqe.recvWindow};
    const FeedEntry entry{FeedEntry::run,     static_cast<uint16_t>(c.blockCount),
                          sqe.completionSlot, sqe.id,
                          c.firstTask,        c.priority,
                          c.firstBlock,       isTurn,
                          addresses};
    const bool isShared = c.blockCount != 1 || c.firstBlock != 0;
    if (isShared && m_.limits.grid != 1) feed_.tryPublish(entry);
    Attempt attempt;
    const bool isOwnToo = entry.firstBlock == 0 || own.hasPart(entry);
    if (isOwnToo) own.beginAttempt(platform, entry, attempt);
    // While that is under way, all that has to be written down before the host can know that it is over.
    ++submissionsTaken_;
    P::countSubmitted(m_, sqe.id, c);
    if (P::kTriesAtOnce) letGo();
    if (isOwnToo) own.accept(platform, entry, attempt);
  }

  /// A run that has waited, if there is one that may begin. @pre hasRoom()
  DFCCL_HD DFCCL_COLD bool passWaitedOn(P& platform, BlockIntake<P>& own) {
    Sqe sqe;
    if (!pending_.next(sqe)) return false;
    P::awaitLines(m_, pending_.awaitedLines());
    passOn(platform, own, sqe);
    return true;
  }

  /// A run that comes alone is soonest over where the leader's own block takes part, and so are those of a single block
  /// that follow others of their id only; where several are under way, the others share them, and the leader's is there
  /// for what comes in. Only between two runs of an id, and only once two came in the same way: the first of a burst
  /// comes alone too, and blocks that have not had a part before are slow.
  DFCCL_HD DFCCL_COLD void move(uint32_t collective, CollectiveHead& c, bool isAlone) {
    const bool isFirst = isAlone != (c.wasAlone != 0);
    c.wasAlone = isAlone;
    if (isFirst) return P::placeChanged(m_, collective, c);
    const uint32_t wanted = isAlone ? 0 : firstBlockOf(collective, m_.limits.grid, c.blockCount);
    if (wanted == c.firstBlock) return;
    const Atomic<uint64_t, Scope::device>& finished = m_.collectives[collective].finishedRuns;
    if (Rules::movesBetweenRuns && finished.load(P::kLook) != c.submittedRuns.load(order::relaxed)) return;
    P::found(finished);
    P::releaseEntry();
    c.firstBlock = static_cast<uint16_t>(wanted);
    P::placeChanged(m_, collective, c);
  }

  /// Gives the places of entries that were taken back to the producers, and says how many runs there were.
  DFCCL_HD void letGo() {
    submissions_.release();
    m_.counters.submissionsTaken.value.store(submissionsTaken_, order::relaxed);
  }

  /// As far as the host was when it submitted the entry at hand. @return whether there is room for that too.
  DFCCL_HD DFCCL_COLD bool catchUpWithControl(P& platform, BlockIntake<P>& own) {
    while (m_.control.tail.load(order::acquire) != controlHead_) {
      if (!passControlOn(platform, own)) return false;
    }
    return hasRoom();
  }

  DFCCL_HD DFCCL_COLD bool passControlOn(P& platform, BlockIntake<P>& own) {
    if (!hasRoom()) return false;
    const ControlRequest request = m_.control.at(controlHead_);
    switch (request.kind) {
      case ControlRequest::abort:
        tell(platform, own, {FeedEntry::abort, 0, request.collective});
        break;
      case ControlRequest::forget:
        tell(platform, own,
             {FeedEntry::forget, static_cast<uint16_t>(request.blockCount), 0, request.collective, request.firstTask});
        break;
      default:
        if constexpr (P::kIsRemote) P::carryOut(m_, request);
    }
    ++controlHead_;
    m_.control.head.store(controlHead_, order::release);
    return true;
  }
};

}  // namespace dfccl

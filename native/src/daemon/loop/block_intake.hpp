#pragma once
// What a block does with what the leader tells all blocks: runs that it has a part in are tried at once or queued,
// aborts, and the daemon's leaving. This is all that the leader knows of its own block, to which it hands everything
// over itself.
#include <cstdint>

#include "daemon/tasks/block_runs.hpp"

namespace dfccl {

template <class P>
class BlockIntake : public BlockRuns<P> {
  using Runs = BlockRuns<P>;
  using Runs::dropCollective, Runs::endAttempt, Runs::firstPartOf, Runs::forgetPlace, Runs::takeRun;

 protected:
  using Runs::countVisit, Runs::finish, Runs::hasRunBefore, Runs::noteSlices;
  using Runs::grid_, Runs::index_, Runs::isInside_, Runs::slots_, Runs::tasks_, Runs::view_;

 public:
  using Runs::hasPart;

  DFCCL_HD bool isInside() const { return isInside_; }

  /// Takes what the leader tells all blocks. @return whether this block has anything to do with it.
  DFCCL_HD DFCCL_HOT bool accept(P& platform, const FeedEntry& entry) {
    Attempt attempt;
    if (entry.kind == FeedEntry::run) {
      if (!hasPart(entry)) return false;
      beginAttempt(platform, entry, attempt);
    }
    return accept(platform, entry, attempt);
  }

  /// @param attempt what beginAttempt made of it.
  DFCCL_HD DFCCL_HOT bool accept(P& platform, const FeedEntry& entry, Attempt& attempt) {
    if (P::kTriesAtOnce && attempt.isUnderWay) {
      if (index_ != 0) reportBusy();
      ContextSlot& slot = slots_.at(entry.collective);
      Attempts<P>::end(platform, slot, slots_.preparedAt(entry.collective), entry, view_.rank().runs[entry.value],
                       view_.counters(), attempt);
      if (attempt.isOver) {
        if (attempt.isFinal) endAttempt(*slot.collective, entry, attempt.isAborted);
        return true;
      }
    }
    if (index_ != 0 && !hasRunBefore(entry)) P::acquireEntry();
    return queue(platform, entry, attempt);
  }

  /// @pre This block has a part in the run.
  DFCCL_HD DFCCL_HOT void beginAttempt(P& platform, const FeedEntry& run, Attempt& attempt) {
    if (!P::kTriesAtOnce || (!tasks_.isEmpty() && !mayTryBesideOthers(run))) return;
    PreparedPart& part = slots_.preparedAt(run.collective);
    const uint32_t programBlock = firstPartOf(run);
    const bool isPrepared = part.isOf(run.firstTask + programBlock) && run.blockCount <= grid_;
    // Of several that have come together, a round does more than an attempt at each. But an exchange that is tried at
    // once is over, or has sent what its peers wait for, before the next is looked at.
    const bool mayBeAlone = part.isExchange();
    if (P::kRoundTurns != 0 && !mayBeAlone && index_ != 0 && feed_.hasMore()) return;
    if (!isPrepared || tasks_.isInOrder() || P::isAborted(view_.rank(), index_, run.collective)) return;
    // What is prepared stays when another's context takes the place, and when a stay ends.
    ContextSlot& slot = slots_.claim(view_.rank(), view_.counters(),
                                     {run.firstTask + programBlock, run.collective, programBlock, run.blockCount});
    Attempts<P>::begin(platform, slot, part, run, programBlock, attempt);
  }

  /// Without an attempt, or after one that was not the end.
  DFCCL_HD DFCCL_COLD bool queue(P& platform, const FeedEntry& entry, const Attempt& attempt) {
    switch (entry.kind) {
      case FeedEntry::run: {
        const bool hasTurn = hasTurnAtOnce(entry);
        takeRun(platform, entry, attempt);
        if (hasTurn) giveFirstTurn(platform, entry);
        return true;
      }
      case FeedEntry::abort:
        dropCollective(entry.value);
        return true;
      case FeedEntry::forget:
        forgetPlace(entry);
        return true;
      case FeedEntry::drain:
        tasks_.template note<scheduling::EventKind::drain>();
        return false;
      case FeedEntry::quit:
        persist(platform);
        return false;
    }
    return false;
  }

  /// What the leader's decisions to look and to leave depend on.
  DFCCL_HD void noteFetchedNothing() { tasks_.template note<scheduling::EventKind::fetchedNothing>(); }
  DFCCL_HD bool shouldFetch() const { return tasks_.shouldFetch(); }
  DFCCL_HD bool isAllStuck() const { return tasks_.isAllStuck(); }
  DFCCL_HD bool isTriedAll() const { return tasks_.isTriedAll(); }
  DFCCL_HD uint32_t queueLength() const { return tasks_.length(); }
  /// Whether a task of another collective is in the queue.
  DFCCL_HD bool hasOthersThan(uint32_t collective) const {
    return !tasks_.isEmpty() && (tasks_.length() > 1 || isOfOtherThan(collective));
  }

 protected:
  DFCCL_HD BlockIntake(RankMemory& memory, uint32_t index)
      : Runs(memory, index),
        feed_(memory, index),
        progress_(BlockFacts::of(memory.blocks[index].facts.load(order::relaxed)).progress) {}

  /// Relaxed: the leader may see them late, which at worst ends a stay that a submission begins again.
  DFCCL_HD void reportFacts(bool progressed) {
    if (progressed) ++progress_;
    const BlockFacts facts{progress_, tasks_.length(), isAllStuck(), isTriedAll()};
    view_.rank().blocks[index_].facts.store(facts.packed(), order::relaxed);
  }

  /// What is under way is in no queue yet.
  DFCCL_HD void reportBusy() {
    view_.rank().blocks[index_].facts.store(BlockFacts{progress_, tasks_.length() + 1, false, true}.packed(),
                                            order::relaxed);
  }

  DFCCL_HD DFCCL_COLD void persist(P&) {
    slots_.saveAll(view_.rank(), view_.counters());
    tasks_.save();
    // Until this block is back, the leader of the next stay must not think that its tasks were tried.
    view_.rank().blocks[index_].facts.store(BlockFacts{progress_, tasks_.length(), false, false}.packed(),
                                            order::relaxed);
    isInside_ = false;
    P::blockLeft(view_.rank(), index_);
  }

  /// Whether nothing is before it but a few tasks that all wait, as receives do whose messages are sent later: their
  /// next turns can do without the looks that it takes. @pre This block has a part in the run.
  DFCCL_HD DFCCL_COLD bool mayTryBesideOthers(const FeedEntry& run) {
    return tasks_.length() <= kFew && tasks_.isAllStuck() && !view_.isActive(run.firstTask + firstPartOf(run));
  }
  /// Of what isn't prepared, as between machines. In the queue it would come after all the looks that a task before it
  /// is worth, and some of what waits there may be waiting for what this one sends.
  DFCCL_HD bool hasTurnAtOnce(const FeedEntry& run) {
    if constexpr (!P::kTriesAtOnce) return false;
    if (tasks_.isEmpty() || tasks_.length() > kFew || tasks_.isInOrder() || tasks_.isDraining()) return false;
    // Those in the queue have theirs in between.
    if (firstTurns_ == kMostFirstTurns) return false;
    if (tasks_.current().priority > run.priority && !tasks_.isAllStuck()) return false;
    return run.blockCount <= grid_ && !hasRunBefore(run) && !view_.isActive(run.firstTask + firstPartOf(run));
  }
  DFCCL_HD DFCCL_COLD void giveFirstTurn(P& platform, const FeedEntry& run) {
    const uint32_t task = run.firstTask + firstPartOf(run);
    uint32_t position = 0;
    while (position < tasks_.length() && tasks_.at(position).task != task) ++position;
    if (position == tasks_.length()) return;  // aborted
    // It may take long: the leader must not think meanwhile that there is nothing to do.
    if (index_ != 0) reportFacts(true);
    ++firstTurns_;
    const QueueEntry entry = tasks_.at(position);
    ContextSlot& slot = slots_.load(view_.rank(), view_.block(), view_.counters(), task, entry.collective);
    countVisit();
    const Advance turn = TaskTurns<P>::advance(platform, slots_, slot, P::kStepBudgetBytes);
    if (turn.progressed) noteSlices(slot, P::kStepBudgetBytes - turn.budgetLeft);
    if (turn.outcome != Outcome::stuck && turn.outcome != Outcome::paused)
      finish(platform, slot, entry, turn.outcome, position);
  }
  DFCCL_HD DFCCL_COLD bool isOfOtherThan(uint32_t collective) const { return tasks_.at(0).collective != collective; }

  static constexpr uint32_t kFew = 2;  // tasks
  static constexpr uint32_t kMostFirstTurns = 4;

  typename P::FeedReader feed_;
  uint32_t firstTurns_ = 0;  // since the last visit
  uint32_t lookedAt_ = 0;    // tasks from the current one on that BlockDaemon's rounds have looked at in vain
  uint64_t progress_;
};

}  // namespace dfccl

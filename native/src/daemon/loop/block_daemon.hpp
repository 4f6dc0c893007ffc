#pragma once
// The daemon of one block, the same source on every platform: `while (!exited) step()`, and every step is bounded. It
// takes runs in, gives its tasks their turns, executes programs slice by slice, preempts what is stuck (DFCCL,
// section 4).
#include <cstdint>

#include "daemon/loop/block_intake.hpp"
#include "daemon/tasks/turn_round.hpp"

namespace dfccl {

template <class P>
class BlockDaemon : public BlockIntake<P> {
  using Intake = BlockIntake<P>;
  using Intake::countVisit, Intake::finish, Intake::queue, Intake::hasPart, Intake::hasRunBefore, Intake::noteSlices,
      Intake::persist, Intake::reportFacts;
  using Intake::feed_, Intake::firstTurns_, Intake::grid_, Intake::hasReady_, Intake::index_, Intake::isInside_,
      Intake::lookedAt_, Intake::slots_, Intake::tasks_, Intake::view_;

 public:
  using Rules = typename P::Rules;
  using Intake::accept, Intake::shouldFetch;

  DFCCL_HD BlockDaemon(RankMemory& memory, uint32_t index) : Intake(memory, index) {}

  /// Restores what the last stay saved. The launcher calls it for every block before the daemon counts as resident.
  DFCCL_HD void enter() {
    tasks_.restore();
    if (!Rules::quitAsAWhole && index_ != 0) skipFeed();
    isInside_ = true;
    reportFacts(false);
  }

  /// One bounded piece of work. @return whether anything was taken in or committed.
  DFCCL_HD bool step(P& platform) {
    if (!isInside_) return false;
    // The leader hands everything over to its own block itself.
    if (index_ == 0) return visit(platform);
    bool progressed = takeIn(platform);
    // Before a visit that may take long: the leader must not think meanwhile that there is nothing to do.
    if (isInside_ && progressed && !tasks_.isEmpty()) reportFacts(true);
    if (isInside_) progressed |= visit(platform);
    if (isInside_) reportFacts(progressed);
    return progressed;
  }

  /// Something has come in since the last visit that needs nobody else to go on.
  DFCCL_HD bool hasReady() const { return hasReady_; }
  /// The task at a position of the queue, for diagnosis; the caller holds the block.
  DFCCL_HD uint32_t taskAt(uint32_t position) const { return tasks_.at(position).task; }

  /// The index is given to another collective. @pre Nobody steps.
  void forgetPrepared(uint32_t collective) {
    if constexpr (P::kTriesAtOnce) slots_.preparedAt(collective).task = PreparedPart::kNoTask;
  }

  /// Control only: a block that leaves on its own.
  DFCCL_HD void leaveAlone(P& platform) { persist(platform); }

 private:
  DFCCL_HD bool takeIn(P& platform) {
    bool any = false;
    FeedEntry entry;
    const bool isForRound = gathers();
    if (P::kTriesAtOnce && !tasks_.isDraining() && !isForRound && !shouldFetch()) return false;
    const uint32_t batch = view_.rank().policy.order.fetchBatch;
    // More are taken in beside the round.
    constexpr uint32_t kBeforeRound = 8;
    const uint32_t most = isForRound && batch > kBeforeRound ? kBeforeRound : batch;
    for (uint32_t taken = 0; taken < most && isInside_ && feed_.take(entry); ++taken) any |= accept(platform, entry);
    return any;
  }

  /// Polls tasks until one of them has used the step's budget up, sticks below its threshold, or all are stuck.
  DFCCL_HD DFCCL_COLD bool visit(P& platform) {
    if (tasks_.isEmpty()) {
      tasks_.template note<scheduling::EventKind::idle>();
      return false;
    }
    bool any = false;
    hasReady_ = false;
    firstTurns_ = 0;
    int64_t budget = P::kStepBudgetBytes;
    // Bounds the step where small tasks complete one after another.
    for (int visits = 0; visits < P::kVisitsPerStep && !tasks_.isEmpty(); ++visits) {
      countVisit();
      const QueueEntry entry = tasks_.current();
      if constexpr (P::kRoundTurns != 0) {
        if (tasks_.length() != 1 && takesRound(entry)) return takeRound(platform) || any;
      }
      ContextSlot& slot = slots_.load(view_.rank(), view_.block(), view_.counters(), entry.task, entry.collective);
      const auto turn = TaskTurns<P>::advance(platform, slots_, slot, budget);
      const bool progressed = turn.progressed;
      if (progressed) noteSlices(slot, budget - turn.budgetLeft);
      budget = turn.budgetLeft;
      any |= progressed;
      switch (turn.outcome) {
        case Outcome::completed:
        case Outcome::aborted:
        case Outcome::mismatched:
        case Outcome::blockDone:
          finish(platform, slot, entry, turn.outcome, tasks_.cursor());
          break;
        case Outcome::paused:
          tasks_.template note<scheduling::EventKind::progressed>();
          return true;
        case Outcome::stuck: {
          const scheduling::Change change = tasks_.noteStuck(progressed);
          // A task that is alone gains nothing from being polled again at once.
          if (tasks_.length() == 1) return any;
          if (!progressed && (!change.turnEnded || tasks_.isAllStuck())) return any;
          break;
        }
      }
    }
    return any;
  }

  /// The more tasks there are, the more a round can do.
  DFCCL_HD bool gathers() {
    if constexpr (P::kRoundTurns == 0) return false;
    return !tasks_.isEmpty() && takesRound(tasks_.current());
  }

  // In order, a task may be in the queue more than once.
  DFCCL_HD bool takesRound(const QueueEntry& current) {
    using Round = TurnRound<P>;
    if (tasks_.isInOrder()) return false;
    const ContextSlot& slot = slots_.at(current.collective);
    return Round::awaits(current.task, slot, slots_.preparedAt(current.collective)) != Round::Awaits::nothing;
  }

  /// Turns for the current task and those behind it; where none of them went on, the next round's are for those further
  /// behind, which would wait for the current one to be preempted. @return whether any of them went on.
  DFCCL_HD DFCCL_COLD bool takeRound(P& platform) {
    const uint32_t behind = tasks_.isDraining() || lookedAt_ >= tasks_.length() ? 0 : lookedAt_;
    const auto positions = RoundPositions::from(tasks_.cursor(), behind, tasks_.length(), P::kRoundTurns);
    platform.beginRound(slots_, tasks_, positions);
    takeInBesideRound(platform);
    const RoundTurn* const turns = platform.endRound();
    const RoundTurn own = turns[0];
    bool any = false;
    // From the last position to the first, so that those still to come stay where they are, unless what a task goes on
    // with enters ahead of all others.
    uint32_t entered = 0;
    for (uint32_t done = 0; done < positions.count; ++done) {
      const uint32_t turn = positions.turnFromBehind(done);
      const RoundTurn came = turns[turn];
      if (came.kind == RoundTurn::Kind::passed) continue;
      any = true;
      const uint32_t length = tasks_.length();
      endRoundTurn(platform, positions.of(turn) + entered, came);
      if (tasks_.isLifo() && came.outcome != Outcome::stuck && tasks_.length() == length) ++entered;
    }
    // The current task is still in the queue: where the others were does not matter to its turn.
    if (behind == 0 && own.outcome == Outcome::stuck) tasks_.noteStuck(own.kind != RoundTurn::Kind::passed);
    if (behind != 0 && !any) view_.counters().stuckVisits.add(1);
    lookedAt_ = any ? 0 : behind + positions.count;
    return any;
  }

  /// What leaves the round's tasks, and their positions, as they are.
  DFCCL_HD void takeInBesideRound(P& platform) {
    // The leader's block has no feed.
    if (index_ == 0) return;
    FeedEntry entry;
    while (!platform.isRoundOver() && feed_.peek(entry) && isApart(entry)) {
      feed_.pop();
      if (hasPart(entry)) queue(platform, entry, Attempt{});
    }
  }

  /// Whether it goes behind all others, and needs nothing but this thread. It takes no context of the round's tasks:
  /// what is prepared in that place is its own, and theirs are prepared.
  DFCCL_HD bool isApart(const FeedEntry& entry) {
    if (entry.kind != FeedEntry::run) return false;
    if (!hasPart(entry)) return true;
    // Of several parts only one is prepared.
    return entry.blockCount <= grid_ && hasRunBefore(entry) && tasks_.goesLast(entry.priority);
  }

  DFCCL_HD void endRoundTurn(P& platform, uint32_t position, const RoundTurn& came) {
    const QueueEntry entry = tasks_.at(position);
    ContextSlot& slot = slots_.at(entry.collective);
    view_.counters().slices.add(1);
    if (came.kind == RoundTurn::Kind::moved) {
      const PreparedPart& part = slots_.preparedAt(entry.collective);
      view_.counters().bytesMoved.add(part.movedElements() * sizeOf(part.meeting.type));
    }
    if (came.kind == RoundTurn::Kind::staged) return stage(slot);
    if (came.outcome != Outcome::stuck) return finish(platform, slot, entry, came.outcome, position);
    const bool isSent = came.kind == RoundTurn::Kind::sent;
    slot.dynamic.isSent |= isSent;
    slot.dynamic.phase = isSent ? Phase::running : Phase::draining;
    slot.isDirty = true;
  }

  /// From here on the task is the interpreter's.
  DFCCL_HD DFCCL_COLD static void stage(ContextSlot& slot) {
    P::acquireEntry();
    slot.dynamic.beginSlices(Phase::staging);
    slot.isDirty = true;
  }

  /// Control only: a block that starts again at the end of the sequence loses what came while it was out.
  DFCCL_HD void skipFeed() {
    FeedEntry entry;
    while (feed_.take(entry)) {
    }
  }
};

}  // namespace dfccl

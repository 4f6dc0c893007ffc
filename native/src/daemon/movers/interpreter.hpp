#pragma once
// Executes one task's program, a slice at a time. Every wait is one look: what is not there makes the task stuck, and
// the daemon decides whether to look again or to run something else (two-phase blocking, DFCCL, section 4.2).
#include <cstdint>

#include "daemon/lifecycle/meeting.hpp"
#include "daemon/lifecycle/outcome.hpp"
#include "daemon/lifecycle/run_turn.hpp"
#include "daemon/movers/connected_step.hpp"
#include "daemon/movers/direct_moves.hpp"
#include "daemon/movers/exchange_step.hpp"
#include "daemon/movers/prepare_part.hpp"
#include "daemon/movers/task_slice.hpp"

namespace dfccl {

template <class P>
class Interpreter {
 public:
  using Rules = typename P::Rules;

  /// @param collective the record itself, for what changes in it.
  /// @param view its constant part, which may be a nearer copy.
  DFCCL_HD Interpreter(P& platform, const CollectiveRecord& collective, const CollectiveRecord& view,
                       const RunAddresses& run, RunRecord& record, uint32_t programBlock, DynamicContext& context)
      : platform_(platform),
        live_(collective),
        c_(view),
        places_(*view.places),
        program_(context.phase == Phase::staging ? view.staged : view.program),
        run_(run),
        record_(record),
        block_(programBlock),
        d_(context) {}

  /// Goes on until stuck, done, or `budgetBytes` are moved. `progressed` tells whether anything was committed.
  DFCCL_HD Outcome advance(int64_t& budgetBytes, bool& progressed) {
    if (d_.phase == Phase::starting) {
      if (!isMyTurn()) return Outcome::stuck;
      d_.phase = Phase::meeting;
    }
    if (d_.phase == Phase::meeting) {
      if (runsTogether()) return advanceTogether(budgetBytes, progressed);
      if (!start(progressed)) return Outcome::stuck;
      d_.phase = isStaged() ? Phase::staging : Phase::running;
      program_ = d_.phase == Phase::staging ? c_.staged : c_.program;
      d_.step = 0;
      d_.tile = 0;
      progressed = true;
    }
    if (d_.phase != Phase::draining) {
      const uint32_t stepCount = block_ < program_->header.blockCount ? program_->blocks[block_].stepCount : 0;
      if (stepCount != 0) {
        const StepRecord* steps = program_->steps.data() + program_->blocks[block_].firstStep;
        while (!isOver(stepCount)) {
          if (!runSlice(steps[d_.step], budgetBytes, stepCount, progressed)) return Outcome::stuck;
          moveOn(stepCount);
          progressed = true;
          if (budgetBytes <= 0 && !isOver(stepCount)) return Outcome::paused;
        }
      }
      progressed = true;
      const RunProgress run = record_.blocksDone.count(1, c_.blockCount, run_.partsAtEnd);
      if (run == RunProgress::blocksLeft) return Outcome::blockDone;
      // Another block gave its part up, so the result is not complete, here or at the peers.
      if (run == RunProgress::aborted) return Outcome::aborted;
      if (!c_.program->usesDirect() || !Rules::completeAfterAcknowledge) return Outcome::completed;
      P::finishAccess(places_);
      d_.phase = Phase::draining;
    }
    return Meeting<P>::isAccessOver(platform_, c_, places_, run_.run) ? Outcome::completed : Outcome::stuck;
  }

  /// Tells the peers where this run's buffers are, as soon as it is this run's turn: a pointer published when the
  /// request comes in, not when its task is scheduled, cuts preemptions tenfold.
  DFCCL_HD void publishBuffers(bool& progressed) {
    if (d_.published || block_ != 0 || !c_.program->usesDirect()) return;
    if (d_.phase == Phase::starting && !isMyTurn()) return;
    d_.phase = Phase::meeting;
    Meeting<P>::publishBuffers(places_, c_.member, run_);
    if (runsTogether()) arrive();
    d_.published = 1;
    progressed = true;
  }

  /// Sends this member's part of the first slice of an exchange before the task's turn.
  DFCCL_HD void sendEarly() {
    const BlockRecord& block = program_->blocks[block_];
    if (block.stepCount == 0 || !isMyTurn()) return;
    uint64_t count = 0;
    carryOut(program_->steps[block.firstStep], true, count);
    d_.isSent = 1;
  }

  /// Makes ready what every run of this block's part repeats, if every run does. @pre A run has ended.
  DFCCL_HD void prepare(uint32_t task, PreparedPart& part) const {
    if (c_.staged != nullptr) return;
    PreparePart<P>::prepare(slice(), block_, runsTogether(), task, part);
  }

 private:
  DFCCL_HD bool isMyTurn() const {
    if (Rules::holdUntilRegistered && !platform_.isComplete(c_)) return false;
    return isTurnOf<P>(live_, c_.blockCount, run_.run);
  }

  /// Little to move, in steps that any rank could execute: whoever comes last does it for everybody, which spares the
  /// others a turn each. @pre isMyTurn(): all members have registered.
  DFCCL_HD bool runsTogether() const {
    if (!P::kRunsTogether) return false;
    return c_.shared->togetherBytes.load(order::relaxed) <= static_cast<uint64_t>(P::kTogetherBytes);
  }

  // The next run's arrivals begin after this run was executed, so the count alone tells who is last. It hands the
  // members' buffers on: released by each arrival, acquired by the last.
  DFCCL_HD void arrive() {
    const uint64_t arrivals = c_.shared->arrivals.fetchAdd(1, order::acqRel) + 1;
    d_.isLast = arrivals == (run_.run + 1) * places_.members || !Rules::mailboxNamesRun;
  }

  DFCCL_HD Outcome advanceTogether(int64_t& budgetBytes, bool& progressed) {
    publishBuffers(progressed);
    CollectiveShared& shared = *c_.shared;
    if (d_.isLast) {
      platform_.beginSeries();
      for (const JointMove& move : shared.joint.moves) {
        DirectMoves<P>::moveJointly(slice(), shared.joint, move, budgetBytes);
      }
      platform_.endSeries();
      shared.executedRuns.store(run_.run + 1, order::release);
    } else if (shared.executedRuns.load(order::acquire) <= run_.run && Rules::completeAfterAcknowledge) {
      return Outcome::stuck;
    }
    progressed = true;
    return Outcome::completed;
  }

  DFCCL_HD bool start(bool& progressed) {
    if (!c_.program->usesDirect()) return true;
    publishBuffers(progressed);
    if (!Rules::mailboxNamesRun || (!c_.program->touchesPeers && c_.staged == nullptr)) return true;
    // `step` counts the members whose buffers are known while the task is starting, so that a retry goes on there.
    d_.step = platform_.lookForMailboxes(places_, run_.run, d_.step);
    return d_.step == places_.members;
  }

  /// All members read the same names, so they come to the same answer. @pre start()
  DFCCL_HD bool isStaged() const {
    if (c_.staged == nullptr) return false;
    for (uint32_t m = 0; m < places_.members; ++m) {
      const Mailbox& known = places_.knownMailboxes[m];
      if (windows::isUnmapped(known.inputName.load(order::relaxed))) return true;
      if (windows::isUnmapped(known.outputName.load(order::relaxed))) return true;
    }
    return false;
  }

  DFCCL_HD bool isStepByStep() const { return (program_->header.flags & kStepByStep) != 0; }

  /// Whether the slices of this block are all done. @pre stepCount != 0
  DFCCL_HD bool isOver(uint32_t stepCount) const {
    return isStepByStep() ? d_.step >= stepCount : d_.tile >= program_->tiles;
  }

  DFCCL_HD void moveOn(uint32_t stepCount) {
    uint32_t& inner = isStepByStep() ? d_.tile : d_.step;
    uint32_t& outer = isStepByStep() ? d_.step : d_.tile;
    if (++inner < (isStepByStep() ? program_->tiles : stepCount)) return;
    inner = 0;
    ++outer;
  }

  DFCCL_HD bool dependenciesMet(const StepRecord& step) const {
    for (uint32_t i = 0; i < step.dependencyCount; ++i) {
      const DependencyRecord& d = program_->dependencies[step.firstDependency + i];
      const uint64_t loop = run_.run * program_->tiles + d_.tile;
      const uint64_t needed = loop * program_->blocks[d.block].stepCount + d.step + 1;
      if (c_.blockProgress[d.block].load(order::acquire) < needed) return false;
    }
    return true;
  }

  /// @return false when stuck, with nothing written.
  DFCCL_HD bool runSlice(const StepRecord& step, int64_t& budgetBytes, uint32_t stepCount, bool& progressed) {
    if (step.dependencyCount != 0 && !dependenciesMet(step)) return false;
    if (program_->exchanges) {
      if (!exchange(step, budgetBytes, progressed)) return false;
    } else if (static_cast<Op>(step.op) == Op::multiReduceCopy) {
      DirectMoves<P>::multiReduceCopy(slice(), step, budgetBytes);
    } else if (static_cast<Op>(step.op) != Op::nop) {
      const TaskSlice<P> here = slice();
      if (!ConnectedStep<P>(here, step).execute(budgetBytes)) return false;
    }
    if (step.isAwaited) {
      const uint64_t loop = run_.run * program_->tiles + d_.tile;
      c_.blockProgress[block_].store(loop * stepCount + d_.step + 1, order::release);
    }
    return true;
  }

  /// @return whether all parts were there.
  DFCCL_HD bool carryOut(const StepRecord& step, bool isSendOnly, uint64_t& count) {
    Exchange e = exchangeOf(slice(), step);
    e.isSendOnly = isSendOnly;
    count = e.count;
    return count == 0 || platform_.exchange(e);
  }

  DFCCL_HD bool exchange(const StepRecord& step, int64_t& budgetBytes, bool& progressed) {
    uint64_t count = 0;
    if (!carryOut(step, false, count)) {
      progressed |= d_.isSent == 0;
      d_.isSent = 1;
      return false;
    }
    budgetBytes -= static_cast<int64_t>(count * program_->elementBytes()) * (2 * places_.members);
    d_.isSent = 0;
    return true;
  }

  DFCCL_HD TaskSlice<P> slice() const { return {platform_, c_, places_, *program_, run_, d_}; }

  P& platform_;
  const CollectiveRecord& live_;
  const CollectiveRecord& c_;
  const MeetingPlaces& places_;
  const BoundProgram* program_;
  const RunAddresses& run_;
  RunRecord& record_;
  const uint32_t block_;
  DynamicContext& d_;
};

}  // namespace dfccl

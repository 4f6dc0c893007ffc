#pragma once
// Executes one task's program, a slice at a time. Every wait is one look: what is not there makes the task stuck, and
// the daemon decides whether to look again or to run something else (two-phase blocking, DFCCL, section 4.2).
#include <cstdint>

#include "daemon/lifecycle/meeting.hpp"
#include "daemon/lifecycle/outcome.hpp"
#include "daemon/lifecycle/part_end.hpp"
#include "daemon/lifecycle/run_turn.hpp"
#include "daemon/movers/advance.hpp"
#include "daemon/movers/connected_step.hpp"
#include "daemon/movers/direct_moves.hpp"
#include "daemon/movers/exchange_step.hpp"
#include "daemon/movers/prepare_part.hpp"
#include "daemon/movers/ring_moves.hpp"
#include "daemon/movers/task_slice.hpp"
#include "daemon/state/count_agreement.hpp"

namespace dfccl {

/// @tparam kOwnCount of runs that bring their counts.
template <class P, bool kOwnCount = false>
class Interpreter {
 public:
  using Rules = typename P::Rules;
  using Slice = TaskSlice<P, kOwnCount>;

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
        d_(context) {
    takeSizes();
  }

  /// Goes on until stuck, done, or `budgetBytes` are moved. `progressed` tells whether anything was committed.
  DFCCL_HD Outcome advance(int64_t& budgetBytes, bool& progressed) {
    if (d_.phase == Phase::starting) {
      if (!isMyTurn()) return Outcome::stuck;
      d_.phase = Phase::meeting;
    }
    if (d_.phase == Phase::meeting) {
      if constexpr (kOwnCount) {
        CountVerdict verdict{};
        if (!agreeOnCount(verdict, budgetBytes, progressed)) return Outcome::stuck;
        if (verdict != CountVerdict::apart) return endByVerdict(verdict, progressed);
      } else {
        if (runsTogether()) return advanceTogether(budgetBytes, progressed);
        if (bringsCounts()) [[unlikely]]
          return advanceWithCount(budgetBytes, progressed);
        if (!start(progressed)) return Outcome::stuck;
      }
      const bool isStaged = Meeting<P>::isToStage(c_, places_);
      program_ = isStaged ? c_.staged : c_.program;
      const bool isInRings = mayUseRings() && RingMoves<P>::areNeeded(places_);
      d_.beginSlices(isInRings ? Phase::inRings : isStaged ? Phase::staging : Phase::running);
      takeSizes();
      progressed = true;
    }
    if (d_.phase != Phase::draining) {
      if (!kOwnCount && bringsCounts()) [[unlikely]]
        return advanceWithCount(budgetBytes, progressed);
      uint32_t stepCount = block_ < program_->header.blockCount ? program_->blocks[block_].stepCount : 0;
      if (d_.phase == Phase::inRings) [[unlikely]] {
        const Outcome outcome = advanceInRings(budgetBytes, progressed);
        if (outcome != Outcome::completed) return outcome;
        stepCount = 0;
      }
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
      const Outcome ended = endPart(record_.blocksDone, c_.blockCount, run_.partsAtEnd);
      if (ended != Outcome::completed) return ended;
      if (!c_.program->usesDirect() || !Rules::completeAfterAcknowledge) return ended;
      P::finishAccess(places_);
      d_.phase = Phase::draining;
    }
    return Meeting<P>::isAccessOver(platform_, c_, places_, run_.run) ? Outcome::completed : Outcome::stuck;
  }

  /// Tells the peers where this run's buffers are, as soon as it is this run's turn: a pointer published when the
  /// request comes in, not when its task is scheduled, cuts preemptions tenfold.
  DFCCL_HD void publishBuffers(bool& progressed) {
    if (d_.published || block_ != 0 || !(c_.program->usesDirect() || kOwnCount)) return;
    if (d_.phase == Phase::starting && !isMyTurn()) return;
    d_.phase = Phase::meeting;
    mayUseRings() ? RingMoves<P>::publishBuffers(places_, c_.member, run_, record_.count)
                  : Meeting<P>::publishBuffers(places_, c_.member, run_);
    if (runsTogether()) {
      arrive();
    } else if (bringsCounts()) {
      CountAgreement::publish(places_, c_.member, record_.count, run_.run);
      arrive();
    }
    d_.published = 1;
    progressed = true;
  }

  /// Sends this member's part of the first slice of an exchange before the task's turn.
  DFCCL_HD void sendEarly() {
    const BlockRecord& block = program_->blocks[block_];
    if (block.stepCount == 0 || !isMyTurn()) return;
    if constexpr (!kOwnCount) ExchangeStep<P>::send(slice(), program_->steps[block.firstStep]);
    d_.isSent = 1;
  }

  /// Makes ready what every run of this block's part repeats, if every run does. @pre A run has ended.
  DFCCL_HD void prepare(uint32_t task, PreparedPart& part) const {
    if (c_.rings != nullptr) return;
    PreparePart<P>::prepare(slice(), block_, runsTogether(), task, part);
  }

 private:
  DFCCL_HD bool isMyTurn() const {
    if (Rules::holdUntilRegistered && !platform_.isComplete(c_)) return false;
    return isTurnOf<P>(live_, c_.blockCount, run_.run);
  }

  /// Runs of the collective bring their counts, which an interpreter of their own knows: nothing here pays for it. They
  /// never count as together (runsTogether), so where that is so nobody has to ask.
  DFCCL_HD bool bringsCounts() const { return P::kCountsPerRun && c_.hasCountPerRun != 0; }
  DFCCL_HD Outcome advanceWithCount(int64_t& budgetBytes, bool& progressed) {
    if constexpr (kOwnCount || !P::kCountsPerRun) {
      return Outcome::stuck;
    } else {
      const Advance made = advanceRunWithCount(platform_, live_, c_, run_, record_, block_, d_, budgetBytes);
      budgetBytes = made.budgetLeft;
      progressed |= made.progressed;
      return made.outcome;
    }
  }
  /// Nothing that has no rings pays for them.
  DFCCL_HD bool mayUseRings() const { return P::kHasRings && !kOwnCount && c_.rings != nullptr; }
  DFCCL_HD Outcome advanceInRings(int64_t& budgetBytes, bool& progressed) {
    if constexpr (kOwnCount || !P::kHasRings) {
      return Outcome::stuck;
    } else {
      return RingMoves<P>(slice(), record_.count).advance(budgetBytes, progressed);
    }
  }
  DFCCL_HD void takeSizes() {
    if constexpr (kOwnCount) runSizes_ = program_->sizesFor(record_.count);
  }
  DFCCL_HD uint32_t tiles() const { return kOwnCount ? runSizes_.tiles : program_->tiles; }

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
      DirectMoves::moveForAll(slice(), budgetBytes);
      shared.executedRuns.store(run_.run + 1, order::release);
    } else if (shared.executedRuns.load(order::acquire) <= run_.run && Rules::completeAfterAcknowledge) {
      return Outcome::stuck;
    }
    progressed = true;
    return Outcome::completed;
  }

  /// @return whether the last member to arrive has said what is to be done; that may be this one.
  DFCCL_HD bool agreeOnCount(CountVerdict& verdict, int64_t& budgetBytes, bool& progressed) {
    publishBuffers(progressed);
    CollectiveShared& shared = *c_.shared;
    if (!d_.isLast) return CountAgreement::isJudged(shared, run_.run, verdict);
    verdict = CountVerdict::apart;
    if (Rules::comparesCounts && !CountAgreement::agree(shared, run_.run)) {
      verdict = CountVerdict::mismatched;
    } else if (P::kRunsTogether && shared.joint.isLittle(record_.count, static_cast<uint64_t>(P::kTogetherBytes))) {
      verdict = CountVerdict::executed;
      DirectMoves::moveForAll(slice(), budgetBytes);
    }
    CountAgreement::judge(shared, run_.run, verdict);
    d_.isLast = 0;
    return true;
  }

  /// The run is over for all its members: its moves were made, or nothing was.
  DFCCL_HD Outcome endByVerdict(CountVerdict verdict, bool& progressed) {
    progressed = true;
    const Outcome ended = endPart(record_.blocksDone, c_.blockCount, run_.partsAtEnd);
    const bool isRefused = ended == Outcome::completed && verdict == CountVerdict::mismatched;
    return isRefused ? Outcome::mismatched : ended;
  }

  DFCCL_HD bool start(bool& progressed) {
    if (!c_.program->usesDirect()) return true;
    publishBuffers(progressed);
    const bool needsPeers = c_.program->touchesPeers || c_.staged != nullptr || c_.rings != nullptr;
    if (!Rules::mailboxNamesRun || !needsPeers) return true;
    // `step` counts the members whose buffers are known while the task is starting, so that a retry goes on there.
    d_.step = platform_.lookForMailboxes(places_, run_.run, d_.step);
    return d_.step == places_.members;
  }

  DFCCL_HD bool isStepByStep() const { return (program_->header.flags & kStepByStep) != 0; }

  /// Whether the slices of this block are all done. @pre stepCount != 0
  DFCCL_HD bool isOver(uint32_t stepCount) const { return isStepByStep() ? d_.step >= stepCount : d_.tile >= tiles(); }

  DFCCL_HD void moveOn(uint32_t stepCount) {
    uint32_t& inner = isStepByStep() ? d_.tile : d_.step;
    uint32_t& outer = isStepByStep() ? d_.step : d_.tile;
    if (++inner < (isStepByStep() ? tiles() : stepCount)) return;
    inner = 0;
    ++outer;
  }

  // Tiles are counted as in a run of the program's count, which has the most: what blocks tell each other of their
  // progress then only grows, whatever the counts of runs that follow one another.
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
    if (!kOwnCount && program_->exchanges) {
      if (!exchange(step, budgetBytes, progressed)) return false;
    } else if (static_cast<Op>(step.op) == Op::multiReduceCopy) {
      DirectMoves::multiReduceCopy(slice(), step, budgetBytes);
    } else if (static_cast<Op>(step.op) != Op::nop) {
      const Slice here = slice();
      if (!ConnectedStep<P, Slice>(here, step).execute(budgetBytes)) return false;
    }
    if (step.isAwaited) {
      const uint64_t loop = run_.run * program_->tiles + d_.tile;
      c_.blockProgress[block_].store(loop * stepCount + d_.step + 1, order::release);
    }
    return true;
  }

  /// @return whether all parts were there. A run that brings its count is none.
  DFCCL_HD bool exchange(const StepRecord& step, int64_t& budgetBytes, bool& progressed) {
    if constexpr (kOwnCount) {
      return true;
    } else {
      return ExchangeStep<P>::execute(slice(), step, budgetBytes, progressed);
    }
  }

  DFCCL_HD Slice slice() const {
    return {platform_, c_, places_, *program_, run_, d_, kOwnCount ? &runSizes_ : nullptr};
  }

  P& platform_;
  const CollectiveRecord& live_;
  const CollectiveRecord& c_;
  const MeetingPlaces& places_;
  const BoundProgram* program_;
  const RunAddresses& run_;
  RunRecord& record_;
  const uint32_t block_;
  DynamicContext& d_;
  ChunkSizes runSizes_;  // of a run that brings its count
};

}  // namespace dfccl

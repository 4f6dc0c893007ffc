#pragma once
// The runs that a block of the daemon has a part in, from being taken in to their end, whoever gives them their turns.
#include <cstdint>

#include "daemon/lifecycle/run_ends.hpp"
#include "daemon/state/block_placement.hpp"
#include "daemon/state/context_slots.hpp"
#include "daemon/state/rank_memory.hpp"
#include "daemon/tasks/attempt.hpp"
#include "daemon/tasks/task_queue.hpp"
#include "daemon/tasks/task_turns.hpp"

namespace dfccl {

template <class P>
class BlockRuns {
 public:
  using Rules = typename P::Rules;

  DFCCL_HD uint32_t index() const { return index_; }
  DFCCL_HD bool hasPart(const FeedEntry& run) const { return firstPartOf(run) < run.blockCount; }

 protected:
  DFCCL_HD BlockRuns(RankMemory& memory, uint32_t index)
      : view_(memory, index),
        index_(index),
        grid_(memory.limits.grid),
        tasks_(memory, index),
        slots_(memory, index),
        ends_(memory, index) {}

  /// The first of a run's program blocks that may be this block's; its others follow in steps of the grid.
  DFCCL_HD uint32_t firstPartOf(const FeedEntry& run) const {
    return dfccl::firstPartOf(index_, grid_, run.firstBlock, run.blockCount);
  }

  /// Then this block has seen all that was written for it when it was registered.
  DFCCL_HD bool hasRunBefore(const FeedEntry& entry) {
    if constexpr (!P::kTriesAtOnce) return false;
    return entry.kind == FeedEntry::run &&
           slots_.preparedAt(entry.collective).isOf(entry.firstTask + firstPartOf(entry));
  }

  /// @pre This block has a part in it. @param attempt how far that is already.
  DFCCL_HD void takeRun(P& platform, const FeedEntry& run, const Attempt& attempt) {
    const uint32_t slot = run.value;
    view_.block().takenRuns[slot] = run.addresses;
    P::mark(TracePoint::runTaken, run.collective);
    view_.counters().tasksTaken.add(1);
    if (P::isAborted(view_.rank(), index_, run.collective)) [[unlikely]] {
      return abortRun(run);
    }
    bool isChained = false;
    const uint32_t first = firstPartOf(run);
    for (uint32_t block = first; block < run.blockCount; block += grid_) {
      if (!Rules::tasksMapModulo && block != first) break;
      const QueueEntry entry{run.firstTask + block, run.collective, run.priority};
      if (view_.isActive(entry.task)) {
        isChained = true;
        if (tasks_.isInOrder()) tasks_.enqueue(entry);
        continue;
      }
      view_.isActive(entry.task) = 1;
      attempt.applyTo(
          begin(platform, {entry.task, run.collective, block, run.blockCount}, slot, run.addresses).dynamic);
      tasks_.enqueue(entry);
    }
    view_.nextRun(slot) = kNoRun;
    if (isChained) view_.nextRun(view_.lastRun(run.collective)) = slot;
    view_.lastRun(run.collective) = slot;
  }

  DFCCL_HD void countVisit() {
    view_.counters().visits.add(1);
    view_.counters().queueLengthSum.add(tasks_.length());
  }
  /// Of a turn that has committed some.
  DFCCL_HD void noteSlices(ContextSlot& slot, int64_t bytesMoved) {
    slot.isDirty = true;
    view_.counters().slices.add(1);
    if (bytesMoved != 0) view_.counters().bytesMoved.add(static_cast<uint64_t>(bytesMoved));
  }

  /// Makes `slot` the current run of a task.
  DFCCL_HD DFCCL_COLD ContextSlot& begin(P& platform, const TaskRun& run, uint32_t slot,
                                         const RunAddresses& addresses) {
    ContextSlot& context = slots_.begin(view_.rank(), view_.counters(), run, addresses, slot);
    if (!view_.rank().publishesEarly()) return context;
    hasReady_ |= TaskTurns<P>::beginEarly(platform, slots_, context, !tasks_.isEmpty());
    return context;
  }

  /// This block's part of a run is over; if it was the last block, the next run may start, and the host is told.
  /// Nothing of the run is touched after that.
  DFCCL_HD void finish(P& platform, ContextSlot& slot, const QueueEntry& entry, Outcome outcome, uint32_t position) {
    const uint64_t run = slot.addresses.run;
    const uint32_t completionSlot = slot.dynamic.slot;
    // A count of several blocks, or of members, has ordered what they wrote before it.
    const bool isOrdered =
        outcome != Outcome::aborted && (slot.blockCount != 1 || slot.dynamic.phase == Phase::draining);
    const bool isLast = outcome != Outcome::blockDone;
    if (isLast) {
      P::mark(TracePoint::runFinished, entry.collective);
      ends_.countFinished(*slot.collective, slot.blockCount);
    }
    advanceToNextRun(platform, slot, entry, position);
    if (isLast) ends_.tellHost(completionSlot, entry.collective, run, ends_.statusOf(outcome), isOrdered);
  }

  DFCCL_HD void advanceToNextRun(P& platform, ContextSlot& slot, const QueueEntry& entry, uint32_t position) {
    view_.counters().tasksCompleted.add(1);
    if (P::kTriesAtOnce) TaskTurns<P>::prepare(platform, slots_, slot, entry.task);
    const TaskRun again{entry.task, entry.collective, slot.programBlock, slot.blockCount};
    const uint32_t next = view_.nextRun(slot.dynamic.slot);
    ContextSlots<P>::end(slot);
    tasks_.complete(position);
    if (next == kNoRun) {
      view_.isActive(entry.task) = 0;
      return;
    }
    begin(platform, again, next, view_.block().takenRuns[next]);
    if (!tasks_.isInOrder()) tasks_.enqueue(entry);
  }

  DFCCL_HD DFCCL_HOT void endAttempt(CollectiveRecord& c, const FeedEntry& run, bool isAborted) {
    ends_.countFinished(c, run.blockCount);
    // A count of several blocks has ordered what they wrote before it, and so have the members' acknowledgements.
    const bool isOrdered = !isAborted && (run.blockCount != 1 || !slots_.preparedAt(run.collective).isExchange());
    ends_.tellHost(run.value, run.collective, run.addresses.run, ends_.statusOf(isAborted), isOrdered);
  }

  /// A run that came in after its id was aborted.
  DFCCL_HD DFCCL_COLD void abortRun(const FeedEntry& run) {
    uint32_t parts = 0;
    for (uint32_t block = firstPartOf(run); block < run.blockCount; block += grid_) ++parts;
    ends_.countAborted(run.value, run.addresses, view_.rank().collectives[run.collective], parts);
  }

  /// An id was aborted: drops its runs. Peers may free what this rank could have touched once every block did this.
  DFCCL_HD DFCCL_COLD void dropCollective(uint32_t collective) {
    CollectiveRecord& c = view_.rank().collectives[collective];
    for (uint32_t position = 0; position < tasks_.length();) {
      const uint32_t task = tasks_.at(position).task;
      if (tasks_.at(position).collective != collective) {
        ++position;
        continue;
      }
      if (!view_.isActive(task)) {  // dropped with an entry before this one
        tasks_.remove(position);
        continue;
      }
      ContextSlot& slot = slots_.load(view_.rank(), view_.block(), view_.counters(), task, collective);
      const bool isDraining = slot.dynamic.phase == Phase::draining;  // it has counted itself already
      for (uint32_t run = slot.dynamic.slot, first = 1; run != kNoRun; first = 0) {
        const uint32_t next = view_.nextRun(run);
        ends_.countAborted(run, view_.block().takenRuns[run], c, first && isDraining ? 0 : 1);
        run = next;
      }
      ContextSlots<P>::end(slot);
      view_.isActive(task) = 0;
      tasks_.remove(position);
    }
    P::acknowledgeAbort(view_.rank(), index_, c);
  }

  /// Nothing of the place's is in the queue any more. What is kept of it would be taken for the next collective's.
  DFCCL_HD DFCCL_COLD void forgetPlace(const FeedEntry& entry) {
    slots_.forget(entry.collective, entry.firstTask, entry.blockCount);
    P::forgetPlace(view_.rank(), index_, entry.collective);
  }

  typename P::BlockView view_;
  alignas(8) const uint32_t index_;  // read together with the next
  const uint32_t grid_;
  bool isInside_ = false;
  bool hasReady_ = false;  // something has come in since the last visit that needs nobody else to go on
  TaskQueue<P> tasks_;
  ContextSlots<P> slots_;
  RunEnds<P> ends_;
};

}  // namespace dfccl

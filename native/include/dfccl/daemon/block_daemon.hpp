#pragma once
// The daemon of one block, the same source on every platform: `while (!exited) step()`, and every step is bounded. It
// takes runs in, keeps its task queue, executes programs slice by slice, preempts what is stuck (dfccl.txt section 4).
#include <cstdint>

#include "dfccl/daemon/context_slots.hpp"
#include "dfccl/daemon/interpreter.hpp"
#include "dfccl/daemon/rank_memory.hpp"

namespace dfccl {

template <class P>
class BlockDaemon {
 public:
  using Rules = typename P::Rules;

  DFCCL_HD BlockDaemon(RankMemory& memory, uint32_t index)
      : m_(memory),
        b_(memory.blocks[index]),
        feed_(memory.feed, index),
        index_(index),
        grid_(memory.limits.grid),
        progress_(BlockFacts::of(memory.blocks[index].facts.load(order::relaxed)).progress),
        counters_(P::counters(memory, index)),
        queue_(P::taskQueue(memory, index)) {}

  DFCCL_HD uint32_t index() const { return index_; }
  DFCCL_HD bool isInside() const { return isInside_; }

  /// Restores what the last stay saved. The launcher calls it for every block before the daemon counts as resident.
  DFCCL_HD void enter() {
    if (!Rules::saveQueue) b_.savedLength = 0;
    for (uint32_t i = 0; i < b_.savedLength; ++i) queue_[i] = b_.savedQueue[i];
    schedule_ = scheduling::started(m_.policy, b_.savedLength, b_.savedCursor);
    if (!Rules::quitAsAWhole) skipFeed();
    isInside_ = true;
    reportFacts(false);
  }

  /// One bounded piece of work. @return whether anything was taken in or committed.
  DFCCL_HD bool step(P& platform) {
    if (!isInside_) return false;
    // Of a grid of one, the leader hands everything over itself.
    if (grid_ == 1) return visit(platform);
    bool progressed = takeIn(platform);
    if (isInside_) progressed |= visit(platform);
    if (isInside_ && index_ != 0) reportFacts(progressed);
    return progressed;
  }

  /// Takes what the leader tells all blocks. @return whether this block has anything to do with it.
  DFCCL_HD bool accept(P& platform, const FeedEntry& entry) {
    switch (entry.kind) {
      case FeedEntry::run:
        if (index_ >= entry.blockCount) return false;
        takeRun(platform, entry.value);
        return true;
      case FeedEntry::abort:
        dropCollective(entry.value);
        return true;
      case FeedEntry::drain:
        note<scheduling::EventKind::drain>();
        return false;
      case FeedEntry::quit:
        persist(platform);
        return false;
    }
    return false;
  }

  /// Leader facts for its decision to leave; see LeaderDaemon.
  DFCCL_HD void noteFetchedNothing() { note<scheduling::EventKind::fetchedNothing>(); }
  DFCCL_HD bool shouldFetch() const { return scheduling::shouldFetch(m_.policy.order, schedule_); }
  DFCCL_HD bool isAllStuck() const { return schedule_.length == 0 || scheduling::isAllStuck(schedule_); }
  DFCCL_HD bool isTriedAll() const { return schedule_.length == 0 || scheduling::isTriedAll(schedule_); }
  DFCCL_HD uint32_t queueLength() const { return schedule_.length; }
  /// Something has come in since the last visit that needs nobody else to go on.
  DFCCL_HD bool hasReady() const { return hasReady_; }
  /// The task at a position of the queue, for diagnosis; the caller holds the block.
  DFCCL_HD uint32_t taskAt(uint32_t position) const { return queue_[position].task; }

  /// Control only: a block that leaves on its own.
  DFCCL_HD void leaveAlone(P& platform) { persist(platform); }

 private:
  template <scheduling::EventKind kind>
  DFCCL_HD scheduling::Change note(uint32_t position = 0) {
    return scheduling::apply(m_.policy, schedule_, {kind, position});
  }

  /// Relaxed: the leader may see them late, which at worst ends a stay that a submission begins again.
  DFCCL_HD void reportFacts(bool progressed) {
    if (progressed) ++progress_;
    const BlockFacts facts{progress_, schedule_.length, isAllStuck(), isTriedAll()};
    b_.facts.store(facts.packed(), order::relaxed);
  }

  DFCCL_HD bool takeIn(P& platform) {
    bool any = false;
    FeedEntry entry;
    while (isInside_ && feed_.take(entry)) any |= accept(platform, entry);
    return any;
  }

  /// @pre This block has a part in it.
  DFCCL_HD void takeRun(P& platform, uint32_t slot) {
    RunRecord& run = m_.runs[slot];
    CollectiveRecord& c = m_.collectives[run.collective];
    const uint32_t blockCount = c.blockCount;
    counters_.tasksTaken.add(1);
    if (c.shared->isPoisoned(P::kLook)) [[unlikely]] {
      return abortRun(slot, c);
    }
    bool isChained = false;
    for (uint32_t block = index_; block < blockCount; block += grid_) {
      if (!Rules::tasksMapModulo && block != index_) break;
      const uint32_t task = c.firstTask + block;
      if (m_.isActive[task]) {
        isChained = true;
        if (isInOrder()) enqueue(task, c.priority);
        continue;
      }
      m_.isActive[task] = 1;
      begin(platform, task, slot, c, block);
      enqueue(task, c.priority);
    }
    b_.nextRun[slot] = kNoRun;
    if (isChained) b_.nextRun[b_.lastRun[c.index]] = slot;
    b_.lastRun[c.index] = slot;
  }

  /// Makes `slot` the current run of a task.
  DFCCL_HD void begin(P& platform, uint32_t task, uint32_t slot, CollectiveRecord& c, uint32_t programBlock) {
    ContextSlot& context = slots_.begin(m_, counters_, task, c.index, programBlock, slot);
    if (programBlock == 0 && m_.publishesEarly() && context.view->program->usesDirect()) {
      bool progressed = false;
      interpreter(platform, context).publishBuffers(progressed);
      hasReady_ |= context.dynamic.isLast != 0;
    }
  }

  DFCCL_HD static Interpreter<P> interpreter(P& platform, ContextSlot& slot) {
    return {platform, *slot.collective, *slot.view, slot.addresses, *slot.run, slot.programBlock, slot.dynamic};
  }

  // In order, a run that follows another of its id has its place from the beginning, as it would have in NCCL's queue.
  // Whichever of a task's entries is polled, it is the task's current run that advances.
  DFCCL_HD bool isInOrder() const { return m_.policy.streams != 0; }

  DFCCL_HD void enqueue(uint32_t task, int32_t priority) {
    const uint32_t length = schedule_.length;
    // In order only: else each task is in it once.
    if (length == queue_.size()) [[unlikely]]
      queue_ = P::growTaskQueue(m_, index_);
    const uint32_t position = scheduling::insertPosition(
        m_.policy.order, [this](uint32_t i) { return queue_[i].priority; }, priority, length);
    for (uint32_t i = length; i > position; --i) queue_[i] = queue_[i - 1];
    queue_[position] = {task, priority};
    note<scheduling::EventKind::fetched>(position);
    counters_.queueLengthMax.raiseTo(length + 1);
  }

  template <scheduling::EventKind why>
  DFCCL_HD void erase(uint32_t position) {
    for (uint32_t i = position; i + 1 < schedule_.length; ++i) queue_[i] = queue_[i + 1];
    note<why>(position);
  }

  /// Polls tasks until one of them has used the step's budget up, sticks below its threshold, or all are stuck.
  DFCCL_HD bool visit(P& platform) {
    if (schedule_.length == 0) {
      note<scheduling::EventKind::idle>();
      return false;
    }
    bool any = false;
    hasReady_ = false;
    int64_t budget = P::kStepBudgetBytes;
    // Bounds the step where small tasks complete one after another.
    for (int visits = 0; visits < P::kVisitsPerStep && schedule_.length != 0; ++visits) {
      counters_.visits.add(1);
      counters_.queueLengthSum.add(schedule_.length);
      const uint32_t task = queue_[schedule_.cursor].task;
      ContextSlot& slot = slots_.load(m_, counters_, task);
      bool progressed = false;
      const int64_t before = budget;
      const Outcome outcome = interpreter(platform, slot).advance(budget, progressed);
      if (progressed) {
        slot.isDirty = true;
        counters_.slices.add(1);
        if (before != budget) counters_.bytesMoved.add(static_cast<uint64_t>(before - budget));
      }
      any |= progressed;
      switch (outcome) {
        case Outcome::completed:
          finish(platform, slot, task, CqeStatus::completed);
          break;
        case Outcome::aborted:
          finish(platform, slot, task, CqeStatus::aborted);
          break;
        case Outcome::blockDone:
          advanceToNextRun(platform, slot, task);
          break;
        case Outcome::paused:
          note<scheduling::EventKind::progressed>();
          return true;
        case Outcome::stuck: {
          if (!progressed) counters_.stuckVisits.add(1);
          const scheduling::Change change =
              progressed ? note<scheduling::EventKind::progressed>() : note<scheduling::EventKind::stuck>();
          if (change.preempted) counters_.preemptions.add(1);
          // A task that is alone gains nothing from being polled again at once.
          if (schedule_.length == 1) return any;
          if (!progressed && (!change.turnEnded || scheduling::isAllStuck(schedule_))) return any;
          break;
        }
      }
    }
    return any;
  }

  /// The last block of a run: the next run may start, and the host is told. Nothing of the run is touched after that.
  DFCCL_HD void finish(P& platform, ContextSlot& slot, uint32_t task, CqeStatus status) {
    const uint32_t index = slot.view->index;
    const uint64_t run = slot.addresses.run;
    const uint32_t completionSlot = slot.dynamic.slot;
    countFinished(*slot.collective, slot.view->blockCount);
    advanceToNextRun(platform, slot, task);
    post(index, completionSlot, run, status);
  }

  // Added, not stored: once an id is aborted, a run that came in late can end before one that was in flight. Blocks may
  // do so at the same time, where there are several.
  DFCCL_HD void countFinished(CollectiveRecord& c, uint32_t blockCount) {
    if (grid_ == 1 || blockCount == 1) {
      c.finishedRuns.store(c.finishedRuns.load(order::relaxed) + 1, P::kOwnOrder);
    } else {
      c.finishedRuns.fetchAdd(1, order::release);
    }
  }

  DFCCL_HD void post(uint32_t index, uint32_t completionSlot, uint64_t run, CqeStatus status) {
    P::postCompletion(m_, completionSlot, packCqe(index, status, run));
  }

  DFCCL_HD void advanceToNextRun(P& platform, ContextSlot& slot, uint32_t task) {
    counters_.tasksCompleted.add(1);
    CollectiveRecord& c = *slot.collective;
    const int32_t priority = slot.view->priority;
    const uint32_t programBlock = slot.programBlock;
    const uint32_t next = b_.nextRun[slot.dynamic.slot];
    ContextSlots<P>::end(slot);
    erase<scheduling::EventKind::completed>(schedule_.cursor);
    if (next == kNoRun) {
      m_.isActive[task] = 0;
      return;
    }
    begin(platform, task, next, c, programBlock);
    if (!isInOrder()) enqueue(task, priority);
  }

  /// A run that came in after its id was aborted.
  DFCCL_HD void abortRun(uint32_t slot, CollectiveRecord& c) {
    uint32_t parts = 0;
    for (uint32_t block = index_; block < c.blockCount; block += grid_) ++parts;
    countAborted(slot, c, parts);
  }

  /// Counts parts of a run whose buffers this block will not touch any more. The last block tells the host.
  DFCCL_HD void countAborted(uint32_t slot, CollectiveRecord& c, uint32_t parts) {
    RunRecord& run = m_.runs[slot];
    const uint64_t number = run.run;
    if (run.blocksDone.count(parts, c.blockCount, true) == RunProgress::blocksLeft) return;
    countFinished(c, c.blockCount);
    post(c.index, slot, number, CqeStatus::aborted);
  }

  /// An id was aborted: drops its runs. Peers may free what this rank could have touched once every block did this.
  DFCCL_HD void dropCollective(uint32_t collective) {
    CollectiveRecord& c = m_.collectives[collective];
    for (uint32_t position = 0; position < schedule_.length;) {
      const uint32_t task = queue_[position].task;
      if (m_.contexts[task].collective != collective) {
        ++position;
        continue;
      }
      if (!m_.isActive[task]) {  // dropped with an entry before this one
        erase<scheduling::EventKind::removed>(position);
        continue;
      }
      ContextSlot& slot = slots_.load(m_, counters_, task);
      const bool isDraining = slot.dynamic.phase == Phase::draining;  // it has counted itself already
      for (uint32_t run = slot.dynamic.slot, first = 1; run != kNoRun; first = 0) {
        const uint32_t next = b_.nextRun[run];
        countAborted(run, c, first && isDraining ? 0 : 1);
        run = next;
      }
      ContextSlots<P>::end(slot);
      m_.isActive[task] = 0;
      erase<scheduling::EventKind::removed>(position);
    }
    P::acknowledgeAbort(m_, c);
  }

  /// Control only: a block that starts again at the end of the sequence loses what came while it was out.
  DFCCL_HD void skipFeed() {
    FeedEntry entry;
    while (feed_.take(entry)) {
    }
  }

  DFCCL_HD void persist(P&) {
    slots_.saveAll(m_, counters_);
    b_.savedLength = schedule_.length;
    b_.savedCursor = schedule_.cursor;
    for (uint32_t i = 0; i < schedule_.length; ++i) b_.savedQueue[i] = queue_[i];
    // Until this block is back, the leader of the next stay must not think that its tasks were tried.
    b_.facts.store(BlockFacts{progress_, schedule_.length, false, false}.packed(), order::relaxed);
    isInside_ = false;
    P::blockLeft(m_, index_);
  }

  RankMemory& m_;
  BlockMemory& b_;
  BroadcastReader<FeedEntry, typename P::FeedOrders> feed_;
  const uint32_t index_;
  const uint32_t grid_;
  bool isInside_ = false;
  bool hasReady_ = false;
  uint64_t progress_;
  scheduling::ScheduleState schedule_{};
  ContextSlots<P> slots_;
  BlockCounters& counters_;
  Array<QueueEntry> queue_;
};

}  // namespace dfccl

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

  BlockDaemon(RankMemory& memory, uint32_t index)
      : m_(memory),
        b_(memory.blocks[index]),
        feed_(memory.feed, index),
        index_(index),
        grid_(memory.limits.grid),
        queue_(memory.limits.tasks) {}

  uint32_t index() const { return index_; }
  bool isInside() const { return isInside_; }

  /// Restores what the last stay saved. The launcher calls it for every block before the daemon counts as resident.
  void enter() {
    if (!Rules::saveQueue) b_.savedLength = 0;
    for (uint32_t i = 0; i < b_.savedLength; ++i) queue_[i] = b_.savedQueue[i];
    schedule_ = scheduling::started(m_.policy, b_.savedLength, b_.savedCursor);
    if (!Rules::quitAsAWhole) skipFeed();
    isInside_ = true;
    reportFacts(false);
  }

  /// One bounded piece of work. @return whether anything was taken in or committed.
  bool step(P& platform) {
    if (!isInside_) return false;
    // Of a grid of one, the leader hands everything over itself.
    if (grid_ == 1) return visit(platform);
    bool progressed = takeIn(platform);
    if (isInside_) progressed |= visit(platform);
    if (isInside_ && index_ != 0) reportFacts(progressed);
    return progressed;
  }

  /// Takes what the leader tells all blocks. @return whether this block has anything to do with it.
  bool accept(P& platform, const FeedEntry& entry) {
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
  void noteFetchedNothing() { note<scheduling::EventKind::fetchedNothing>(); }
  bool shouldFetch() const { return scheduling::shouldFetch(m_.policy.order, schedule_); }
  bool isAllStuck() const { return schedule_.length == 0 || scheduling::isAllStuck(schedule_); }
  bool isTriedAll() const { return schedule_.length == 0 || scheduling::isTriedAll(schedule_); }
  uint32_t queueLength() const { return schedule_.length; }
  /// Something has come in since the last visit that needs nobody else to go on.
  bool hasReady() const { return hasReady_; }
  /// The task at a position of the queue, for diagnosis; the caller holds the block.
  uint32_t taskAt(uint32_t position) const { return queue_[position].task; }

  /// Control only: a block that leaves on its own.
  void leaveAlone(P& platform) { persist(platform); }

 private:
  template <scheduling::EventKind kind>
  scheduling::Change note(uint32_t position = 0) {
    return scheduling::apply(m_.policy, schedule_, {kind, position});
  }

  void reportFacts(bool progressed) {
    if (progressed) b_.progress.store(b_.progress.load(order::relaxed) + 1, order::release);
    b_.queueLength.store(schedule_.length, order::relaxed);
    b_.isAllStuck.store(isAllStuck() ? 1 : 0, order::relaxed);
    b_.isTriedAll.store(isTriedAll() ? 1 : 0, order::relaxed);
  }

  bool takeIn(P& platform) {
    bool any = false;
    FeedEntry entry;
    while (isInside_ && feed_.take(entry)) any |= accept(platform, entry);
    return any;
  }

  /// @pre This block has a part in it.
  void takeRun(P& platform, uint32_t slot) {
    RunRecord& run = m_.runs[slot];
    CollectiveRecord& c = m_.collectives[run.collective];
    const uint32_t blockCount = c.program->header.blockCount;
    b_.counters.tasksTaken.add(1);
    if (c.shared->isPoisoned()) [[unlikely]] {
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
  void begin(P& platform, uint32_t task, uint32_t slot, CollectiveRecord& c, uint32_t programBlock) {
    slots_.forget(task);
    DynamicContext& dynamic = m_.contexts[task].dynamic;
    dynamic = DynamicContext{0, 0, Phase::starting, 0, 0, 0, slot};
    if (programBlock == 0 && m_.publishesEarly() && c.program->usesDirect()) {
      bool progressed = false;
      Interpreter<P>(platform, c, m_.runs[slot], programBlock, dynamic).publishBuffers(progressed);
      hasReady_ |= dynamic.isLast != 0;
    }
  }

  // In order, a run that follows another of its id has its place from the beginning, as it would have in NCCL's queue.
  // Whichever of a task's entries is polled, it is the task's current run that advances.
  bool isInOrder() const { return m_.policy.streams != 0; }

  void enqueue(uint32_t task, int32_t priority) {
    const uint32_t length = schedule_.length;
    if (length == queue_.size()) queue_.resize(2 * length);  // in order only: else each task is in it once
    const uint32_t position = scheduling::insertPosition(
        m_.policy.order, [this](uint32_t i) { return queue_[i].priority; }, priority, length);
    for (uint32_t i = length; i > position; --i) queue_[i] = queue_[i - 1];
    queue_[position] = {task, priority};
    note<scheduling::EventKind::fetched>(position);
    b_.counters.queueLengthMax.raiseTo(length + 1);
  }

  template <scheduling::EventKind why>
  void erase(uint32_t position) {
    for (uint32_t i = position; i + 1 < schedule_.length; ++i) queue_[i] = queue_[i + 1];
    note<why>(position);
  }

  /// Polls tasks until one of them has used the step's budget up, sticks below its threshold, or all are stuck.
  bool visit(P& platform) {
    if (schedule_.length == 0) {
      note<scheduling::EventKind::idle>();
      return false;
    }
    bool any = false;
    hasReady_ = false;
    int64_t budget = P::kStepBudgetBytes;
    // Bounds the step where small tasks complete one after another.
    for (int visits = 0; visits < P::kVisitsPerStep && schedule_.length != 0; ++visits) {
      b_.counters.visits.add(1);
      b_.counters.queueLengthSum.add(schedule_.length);
      const uint32_t task = queue_[schedule_.cursor].task;
      ContextSlot& slot = slots_.load(m_, b_.counters, task);
      bool progressed = false;
      const int64_t before = budget;
      const Outcome outcome = Interpreter<P>(platform, *slot.collective, *slot.run, slot.programBlock, slot.dynamic)
                                  .advance(budget, progressed);
      if (progressed) {
        slot.isDirty = true;
        b_.counters.slices.add(1);
        if (before != budget) b_.counters.bytesMoved.add(static_cast<uint64_t>(before - budget));
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
          if (!progressed) b_.counters.stuckVisits.add(1);
          const scheduling::Change change =
              progressed ? note<scheduling::EventKind::progressed>() : note<scheduling::EventKind::stuck>();
          if (change.preempted) b_.counters.preemptions.add(1);
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
  void finish(P& platform, ContextSlot& slot, uint32_t task, CqeStatus status) {
    CollectiveRecord& c = *slot.collective;
    const uint64_t run = slot.run->run;
    const uint32_t completionSlot = slot.dynamic.slot;
    countFinished(c);
    advanceToNextRun(platform, slot, task);
    post(c, completionSlot, run, status);
  }

  // Added, not stored: once an id is aborted, a run that came in late can end before one that was in flight. Blocks may
  // do so at the same time, where there are several.
  void countFinished(CollectiveRecord& c) {
    if (grid_ == 1) {
      c.finishedRuns.store(c.finishedRuns.load(order::relaxed) + 1, order::release);
    } else {
      c.finishedRuns.fetchAdd(1, order::release);
    }
  }

  void post(const CollectiveRecord& c, uint32_t completionSlot, uint64_t run, CqeStatus status) {
    P::postCompletion(m_, completionSlot, packCqe(c.index, status, run));
  }

  void advanceToNextRun(P& platform, ContextSlot& slot, uint32_t task) {
    b_.counters.tasksCompleted.add(1);
    CollectiveRecord& c = *slot.collective;
    const uint32_t programBlock = slot.programBlock;
    const uint32_t next = b_.nextRun[slot.dynamic.slot];
    slot = ContextSlot{};
    erase<scheduling::EventKind::completed>(schedule_.cursor);
    if (next == kNoRun) {
      m_.isActive[task] = 0;
      return;
    }
    begin(platform, task, next, c, programBlock);
    if (!isInOrder()) enqueue(task, c.priority);
  }

  /// A run that came in after its id was aborted.
  void abortRun(uint32_t slot, CollectiveRecord& c) {
    uint32_t parts = 0;
    for (uint32_t block = index_; block < c.program->header.blockCount; block += grid_) ++parts;
    countAborted(slot, c, parts);
  }

  /// Counts parts of a run whose buffers this block will not touch any more. The last block tells the host.
  void countAborted(uint32_t slot, CollectiveRecord& c, uint32_t parts) {
    RunRecord& run = m_.runs[slot];
    const uint64_t number = run.run;
    if (run.blocksDone.count(parts, c.program->header.blockCount, true) == RunProgress::blocksLeft) return;
    countFinished(c);
    post(c, slot, number, CqeStatus::aborted);
  }

  /// An id was aborted: drops its runs. Peers may free what this rank could have touched once every block did this.
  void dropCollective(uint32_t collective) {
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
      ContextSlot& slot = slots_.load(m_, b_.counters, task);
      const bool isDraining = slot.dynamic.phase == Phase::draining;  // it has counted itself already
      for (uint32_t run = slot.dynamic.slot, first = 1; run != kNoRun; first = 0) {
        const uint32_t next = b_.nextRun[run];
        countAborted(run, c, first && isDraining ? 0 : 1);
        run = next;
      }
      slot = ContextSlot{};
      m_.isActive[task] = 0;
      erase<scheduling::EventKind::removed>(position);
    }
    P::acknowledgeAbort(m_, c);
  }

  /// Control only: a block that starts again at the end of the sequence loses what came while it was out.
  void skipFeed() {
    FeedEntry entry;
    while (feed_.take(entry)) {
    }
  }

  void persist(P&) {
    slots_.saveAll(m_, b_.counters);
    b_.savedLength = schedule_.length;
    b_.savedCursor = schedule_.cursor;
    if (b_.savedQueue.size() < queue_.size()) b_.savedQueue.resize(queue_.size());
    for (uint32_t i = 0; i < schedule_.length; ++i) b_.savedQueue[i] = queue_[i];
    isInside_ = false;
    P::blockLeft(m_);
  }

  RankMemory& m_;
  BlockMemory& b_;
  BlockFeedReader feed_;
  const uint32_t index_;
  const uint32_t grid_;
  bool isInside_ = false;
  bool hasReady_ = false;
  scheduling::ScheduleState schedule_{};
  ContextSlots<Rules> slots_;
  std::vector<QueueEntry> queue_;
};

}  // namespace dfccl

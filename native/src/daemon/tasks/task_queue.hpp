#pragma once
// The tasks of a block, in the order of their turns, and whose turn it is: the entries where the platform keeps them,
// and the pure schedule over their positions (scheduling/scheduler.hpp).
#include <cstdint>

#include "daemon/state/rank_memory.hpp"

namespace dfccl {

template <class P>
class TaskQueue {
 public:
  using Rules = typename P::Rules;
  using EventKind = scheduling::EventKind;

  DFCCL_HD TaskQueue(RankMemory& memory, uint32_t block) : view_(memory, block) {}

  /// What the last stay saved.
  DFCCL_HD void restore() {
    BlockMemory& block = view_.block();
    if (!Rules::saveQueue) block.savedLength = 0;
    for (uint32_t i = 0; i < block.savedLength; ++i) view_.queued(i) = block.savedQueue[i];
    schedule_ = scheduling::started(policy(), block.savedLength, block.savedCursor);
  }
  DFCCL_HD void save() const {
    BlockMemory& block = view_.block();
    block.savedLength = schedule_.length;
    block.savedCursor = schedule_.cursor;
    for (uint32_t i = 0; i < schedule_.length; ++i) block.savedQueue[i] = view_.queued(i);
  }

  DFCCL_HD uint32_t length() const { return schedule_.length; }
  DFCCL_HD bool isEmpty() const { return schedule_.length == 0; }
  DFCCL_HD uint32_t cursor() const { return schedule_.cursor; }
  DFCCL_HD const QueueEntry& at(uint32_t position) const { return view_.queued(position); }
  DFCCL_HD const QueueEntry& current() const { return at(schedule_.cursor); }

  DFCCL_HD bool isDraining() const { return schedule_.isDraining != 0; }
  DFCCL_HD bool shouldFetch() const { return scheduling::shouldFetch(policy().order, schedule_); }
  DFCCL_HD bool isAllStuck() const { return isEmpty() || scheduling::isAllStuck(schedule_); }
  DFCCL_HD bool isTriedAll() const { return isEmpty() || scheduling::isTriedAll(schedule_); }
  // In order, a run that follows another of its id has its place from the beginning, as it would have in NCCL's queue.
  // Whichever of a task's entries is polled, it is the task's current run that advances.
  DFCCL_HD bool isInOrder() const { return policy().streams != 0; }
  /// Whether a task of this priority would come in behind all others.
  DFCCL_HD bool goesLast(int32_t priority) const { return positionFor(priority) == length(); }
  DFCCL_HD bool isLifo() const { return policy().order.kind == scheduling::OrderKind::lifo; }

  /// What happened to the current task, or to none.
  template <EventKind kind>
  DFCCL_HD scheduling::Change note() {
    return apply<kind>(0);
  }

  DFCCL_HD void enqueue(const QueueEntry& entry) {
    const uint32_t length = schedule_.length;
    // In order only: else each task is in it once.
    if (length == view_.queueCapacity()) [[unlikely]]
      view_.growQueue();
    const uint32_t position = positionFor(entry.priority);
    for (uint32_t i = length; i > position; --i) view_.queued(i) = view_.queued(i - 1);
    view_.queued(position) = entry;
    apply<EventKind::fetched>(position);
    view_.counters().queueLengthMax.raiseTo(length + 1);
  }

  /// The task there has done its last slice. One that was not the current one has not used a turn of the schedule's.
  DFCCL_HD void complete(uint32_t position) {
    if (position != schedule_.cursor) return remove(position);
    view_.closeGap(position, schedule_.length);
    apply<EventKind::completed>(position);
  }
  DFCCL_HD void remove(uint32_t position) {
    view_.closeGap(position, schedule_.length);
    apply<EventKind::removed>(position);
  }

  /// The current task's turn came to nothing, or to something but not to its end.
  DFCCL_HD scheduling::Change noteStuck(bool progressed) {
    const uint32_t collective = current().collective;
    if (!progressed) view_.counters().stuckVisits.add(1);
    const scheduling::Change change = progressed ? note<EventKind::progressed>() : note<EventKind::stuck>();
    P::mark(change.preempted ? TracePoint::preempted : TracePoint::visitStuck, collective);
    if (change.preempted) view_.counters().preemptions.add(1);
    return change;
  }

 private:
  DFCCL_HD const scheduling::SchedulePolicy& policy() const { return view_.rank().policy; }
  DFCCL_HD uint32_t positionFor(int32_t priority) const {
    return scheduling::insertPosition(
        policy().order, [this](uint32_t i) { return view_.queued(i).priority; }, priority, length());
  }

  template <EventKind kind>
  DFCCL_HD scheduling::Change apply(uint32_t position) {
    return scheduling::apply(policy(), schedule_, {kind, position});
  }

  typename P::BlockView view_;
  scheduling::ScheduleState schedule_{};
};

}  // namespace dfccl

#pragma once
// One block's schedule: whose turn it is in the task queue, and for how long. A pure transition over plain data; the
// queue itself (an array of task indices) is the engine's, and positions here are indices into it.
//
//   queue    A   B   C   D
//                ^ cursor
//
// A turn is a task's run of visits up to its completion or preemption. A lap is the cursor's way from the front to the
// end. A preempted task keeps its position.
//
// Per visit the engine reports exactly one of idle, stuck, progressed, completed, preempted; `progressed` again for
// each further slice committed in the visit. Looks at the SQ are reported as they happen.
#include <cstdint>

#include "base/host_device.hpp"
#include "scheduling/order_policy.hpp"
#include "scheduling/quit_policy.hpp"
#include "scheduling/saturating.hpp"
#include "scheduling/stickiness_policy.hpp"

namespace dfccl::scheduling {

inline constexpr uint32_t kSchedulePolicyVersion = 1;
inline constexpr uint32_t kNoPosition = 0xffffffff;

/// Everything a daemon needs to schedule; packages/scheduler (src/policy-binary.ts) writes these 80 bytes.
struct SchedulePolicy {
  uint32_t version;
  OrderPolicy order;
  StickinessPolicy stickiness;
  QuitPolicy quit;
  /// 0: preemptive. k > 0: "in order", the control of every deadlock test. The first k tasks run at once, as if each
  /// had a stream of its own; none gives its place up before it completes.
  uint32_t streams;
  uint32_t reserved;
};
static_assert(sizeof(SchedulePolicy) == 80);

/// Whether bytes from outside are a policy that the functions below accept.
DFCCL_HD constexpr bool isValid(const SchedulePolicy& policy) {
  const StickinessPolicy& sticky = policy.stickiness;
  if (policy.version != kSchedulePolicyVersion) return false;
  if (static_cast<int>(policy.order.kind) >= kOrderKindCount) return false;
  if (static_cast<int>(sticky.kind) >= kStickinessKindCount) return false;
  if (static_cast<int>(policy.quit.kind) >= kQuitKindCount) return false;
  if (policy.order.fetchBatch == 0 || policy.order.fetchesPerLap == 0) return false;
  if (sticky.minimumThreshold == 0 || sticky.minimumThreshold > sticky.maximumThreshold) return false;
  if (sticky.initialThreshold < sticky.minimumThreshold || sticky.initialThreshold > sticky.maximumThreshold)
    return false;
  if (sticky.raiseFactor256ths < 256 || sticky.raiseFactor256ths > 65536) return false;
  if (policy.quit.idleVisits != 0 && sticky.maximumThreshold >= policy.quit.idleVisits) return false;
  return policy.streams == 0 || policy.order.kind == OrderKind::fifo;
}

/// The current turn: failed polls in a row, and how many of them end the turn.
struct TaskSchedule {
  uint32_t threshold;
  uint32_t failures;
};

/// Only `cursor` and `length` need to outlive a quit.
struct ScheduleState {
  uint32_t length;               // tasks in the queue
  uint32_t cursor;               // position of the current task; 0 when the queue is empty
  TaskSchedule current;          // of the task at the cursor
  uint32_t untriedTurns;         // turns until every task was polled since the start
  uint32_t unstuckTurns;         // failed turns in a row until every task is known to be stuck
  uint32_t visitsSinceFetch;     // since the last look at the SQ
  uint32_t visitsSinceProgress;  // since a slice was committed
  uint32_t fetchedThisLap;
  uint32_t urgent;  // position of a task that entered ahead of the cursor and goes next, or kNoPosition
  uint32_t isDraining;
};

enum class EventKind : uint8_t {
  fetched,         // a task entered the queue at `position` (of insertPosition)
  fetchedNothing,  // looked, and there was none
  idle,            // a visit with an empty queue
  stuck,           // the current task's poll found nothing
  progressed,      // the current task committed a slice
  completed,       // the current task committed its last slice and leaves the queue
  preempted,       // the engine ends the current turn for a reason of its own (an earlier run of the id isn't finished)
  removed,         // the task at `position` leaves the queue unfinished (abort)
  drain,           // the stay is over: see QuitDecision::drain
};
inline constexpr int kEventKindCount = 9;

struct Event {
  EventKind kind;
  uint32_t position = 0;  // of fetched and removed
};

/// What an event led to, beside the new state.
struct Change {
  bool turnEnded;    // the turn of the task that the event was about is over
  bool taskChanged;  // another task is current now: save the old one's context if it changed, load the new one's
  bool preempted;    // the task kept its place in the queue and gave its turn to another: what counters count
};

struct Decision {
  ScheduleState state;
  bool turnEnded;
  bool taskChanged;
  bool preempted;
};

DFCCL_HD constexpr bool isTriedAll(const ScheduleState& state) { return state.untriedTurns == 0; }
DFCCL_HD constexpr bool isAllStuck(const ScheduleState& state) { return state.unstuckTurns == 0; }

/// Whether this block looks for new entries in this visit.
DFCCL_HD constexpr bool shouldFetch(const OrderPolicy& policy, const ScheduleState& state) {
  if (state.isDraining) return false;
  return shouldFetch(policy, FetchFacts{state.length, state.visitsSinceFetch, state.visitsSinceProgress,
                                        state.fetchedThisLap, isAllStuck(state)});
}

namespace detail {

// Positions that get turns: all of them, or with k streams the first k.
DFCCL_HD constexpr uint32_t activeLength(const SchedulePolicy& policy, uint32_t length) {
  return policy.streams != 0 && policy.streams < length ? policy.streams : length;
}

DFCCL_HD constexpr void beginTurn(const SchedulePolicy& policy, ScheduleState& state) {
  state.current = {.threshold = initialThreshold(policy.stickiness, state.cursor), .failures = 0};
}

DFCCL_HD constexpr void restartCounts(ScheduleState& state) {
  state.untriedTurns = state.length;
  state.unstuckTurns = state.length;
}

// Puts the cursor where the next turn takes place, `next` being the position behind the one that just ended.
DFCCL_HD constexpr void moveTo(const SchedulePolicy& policy, ScheduleState& state, uint32_t next) {
  if (state.urgent != kNoPosition) {
    state.cursor = state.urgent;
    state.urgent = kNoPosition;
    // From here on the cursor passes tasks again that it has tried already, so the count of turns starts anew.
    restartCounts(state);
  } else if (next >= activeLength(policy, state.length)) {
    state.cursor = 0;
    state.fetchedThisLap = 0;
  } else {
    state.cursor = next;
  }
  beginTurn(policy, state);
}

DFCCL_HD constexpr void countVisit(ScheduleState& state) {
  state.visitsSinceFetch = saturatingIncrement(state.visitsSinceFetch);
  state.visitsSinceProgress = saturatingIncrement(state.visitsSinceProgress);
}

DFCCL_HD constexpr Change endTurn(const SchedulePolicy& policy, ScheduleState& state, bool usedThreshold) {
  const uint32_t before = state.cursor;
  state.untriedTurns = saturatingSubtract(state.untriedTurns, 1);
  if (usedThreshold) state.unstuckTurns = saturatingSubtract(state.unstuckTurns, 1);
  moveTo(policy, state, state.cursor + 1);
  const bool taskChanged = state.cursor != before;
  return {true, taskChanged, taskChanged && policy.streams == 0};
}

DFCCL_HD constexpr Change insert(const SchedulePolicy& policy, ScheduleState& state, uint32_t position) {
  const uint32_t oldLength = state.length;
  state.length = oldLength + 1;
  state.visitsSinceFetch = 0;
  state.fetchedThisLap = saturatingIncrement(state.fetchedThisLap);
  restartCounts(state);
  if (oldLength == 0) {
    state.cursor = 0;
    beginTurn(policy, state);
    return {false, true, false};
  }
  if (position <= state.cursor) {
    // An urgent position never lies behind the one of a still more urgent task.
    const bool isFirst = state.urgent == kNoPosition || position <= state.urgent;
    if (isFirst) state.urgent = position;
    state.cursor += 1;
  }
  return {false, false, false};
}

// The task at `position` leaves the queue, completed or not.
DFCCL_HD constexpr Change erase(const SchedulePolicy& policy, ScheduleState& state, uint32_t position) {
  state.length -= 1;
  state.untriedTurns = state.untriedTurns < state.length ? state.untriedTurns : state.length;
  state.unstuckTurns = state.unstuckTurns < state.length ? state.unstuckTurns : state.length;
  if (state.urgent != kNoPosition && position <= state.urgent) {
    state.urgent = position == state.urgent ? kNoPosition : state.urgent - 1;
  }
  if (position > state.cursor) return {false, false, false};
  if (position < state.cursor) {
    state.cursor -= 1;
    return {false, false, false};
  }
  moveTo(policy, state, state.cursor);
  return {true, true, false};
}

}  // namespace detail

/// The state of a block whose daemon starts with `length` tasks restored; `cursor` is where the last stay ended, so
/// that short stays come round to every task.
DFCCL_HD constexpr ScheduleState started(const SchedulePolicy& policy, uint32_t length, uint32_t cursor) {
  ScheduleState state{};
  state.length = length;
  state.cursor = cursor < detail::activeLength(policy, length) ? cursor : 0;
  state.urgent = kNoPosition;
  detail::restartCounts(state);
  detail::beginTurn(policy, state);
  return state;
}

/// Applies an event to the schedule in place, for an engine's hot path.
/// @pre stuck, progressed, completed, preempted: the queue is not empty. fetched: position <= length, and with an
///   empty queue 0. removed: position < length.
DFCCL_HD constexpr Change apply(const SchedulePolicy& policy, ScheduleState& state, const Event& event) {
  switch (event.kind) {
    case EventKind::fetched:
      return detail::insert(policy, state, event.position);
    case EventKind::fetchedNothing:
      state.visitsSinceFetch = 0;
      return {false, false, false};
    case EventKind::idle:
      detail::countVisit(state);
      return {false, false, false};
    case EventKind::stuck: {
      detail::countVisit(state);
      state.current.failures = saturatingIncrement(state.current.failures);
      const bool usedThreshold = state.current.failures >= state.current.threshold;
      const bool yields = usedThreshold || state.isDraining || state.urgent != kNoPosition || policy.streams != 0;
      if (yields) return detail::endTurn(policy, state, usedThreshold || policy.streams != 0);
      return {false, false, false};
    }
    case EventKind::progressed:
      detail::countVisit(state);
      state.visitsSinceProgress = 0;
      state.unstuckTurns = state.length;
      state.current = {.threshold = onSuccess(policy.stickiness, state.current.threshold), .failures = 0};
      if (state.isDraining || state.urgent != kNoPosition) return detail::endTurn(policy, state, false);
      return {false, false, false};
    case EventKind::completed:
      detail::countVisit(state);
      state.visitsSinceProgress = 0;
      state.untriedTurns = saturatingSubtract(state.untriedTurns, 1);
      state.unstuckTurns = state.length;
      return detail::erase(policy, state, state.cursor);
    case EventKind::preempted:
      detail::countVisit(state);
      return detail::endTurn(policy, state, true);
    case EventKind::removed:
      return detail::erase(policy, state, event.position);
    case EventKind::drain:
      state.isDraining = 1;
      state.urgent = kNoPosition;  // going back for it would lengthen the stay
      return {false, false, false};
  }
  return {false, false, false};
}

/// What an event does to the schedule: apply() as a pure function.
DFCCL_HD constexpr Decision transition(const SchedulePolicy& policy, ScheduleState state, const Event& event) {
  const Change change = apply(policy, state, event);
  return {state, change.turnEnded, change.taskChanged, change.preempted};
}

}  // namespace dfccl::scheduling

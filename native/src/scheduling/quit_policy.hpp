#pragma once
// When the daemon leaves the device (DFCCL section 4.4, OCCL section 3.1.3). It leaves as a whole, so one block (the
// leader) runs this over facts gathered from all blocks.
#include <cstdint>

#include "base/host_device.hpp"
#include "scheduling/saturating.hpp"

namespace dfccl::scheduling {

enum class QuitKind : uint8_t {
  never,      // stays until it is told to exit
  whenEmpty,  // leaves with an empty queue only, as kernels do that run a collective to its end: deadlocks with a
              // device synchronization, so it is a control
  voluntary,  // leaves when idle or stuck, and at its residency limit
};
inline constexpr int kQuitKindCount = 3;

/// Plain data; packages/scheduler (src/policy-binary.ts) writes these bytes.
struct QuitPolicy {
  QuitKind kind;
  uint8_t reserved[3];
  /// The idle period: so many visits, and so many ticks, with nothing fetched and no progress. Where one is 0, the
  /// other alone counts; where both are, the daemon leaves at the first quiet visit.
  uint32_t idleVisits;
  uint64_t idleTicks;
  /// Longest stay whatever the progress; 0: unbounded. A thread that waits in a device synchronization while another
  /// keeps the daemon busy is delayed by about this much.
  uint64_t residencyTicks;
};
static_assert(sizeof(QuitPolicy) == 24);

struct QuitState {
  uint64_t startedAt;
  uint64_t activeAt;     // when something was last fetched or progressed
  uint32_t quietVisits;  // visits since then
};

/// What the leader knows in one visit, over all blocks of the daemon.
struct QuitEvent {
  uint64_t now;  // platform ticks
  uint32_t queueLength;
  bool fetched;
  bool progressed;
  bool allStuck;  // every task used up its threshold since the last progress (ScheduleState)
  bool triedAll;  // every task was polled at least once since this start (ScheduleState)
};

struct QuitDecision {
  QuitState state;
  bool quit;
  /// The stay is over but some task has not been tried: blocks give each of these one visit (EventKind::drain) and
  /// fetch no more. So a stay ends at most one visit a task after its limit.
  bool drain;
};

/// The state of a daemon that starts at `now`.
DFCCL_HD constexpr QuitState startedAt(uint64_t now) { return {.startedAt = now, .activeAt = now, .quietVisits = 0}; }

namespace detail {
// Clocks of two cores may disagree by a little; time that seems to run backwards must not look like an age.
DFCCL_HD constexpr uint64_t elapsed(uint64_t now, uint64_t since) { return now > since ? now - since : 0; }

DFCCL_HD constexpr bool isIdle(const QuitPolicy& policy, const QuitState& state, const QuitEvent& event) {
  if (event.fetched || event.progressed) return false;
  if (state.quietVisits < policy.idleVisits || elapsed(event.now, state.activeAt) < policy.idleTicks) return false;
  if (event.queueLength == 0) return true;
  return policy.kind == QuitKind::voluntary && event.allStuck && event.triedAll;
}
}  // namespace detail

/// One visit of the leader.
DFCCL_HD constexpr QuitDecision transition(const QuitPolicy& policy, QuitState state, const QuitEvent& event) {
  if (event.fetched || event.progressed) {
    state.activeAt = event.now;
    state.quietVisits = 0;
  } else {
    state.quietVisits = saturatingIncrement(state.quietVisits);
  }
  if (policy.kind == QuitKind::never) return {state, false, false};
  if (detail::isIdle(policy, state, event)) return {state, true, false};
  const bool isOver = policy.kind == QuitKind::voluntary && policy.residencyTicks != 0 &&
                      detail::elapsed(event.now, state.startedAt) >= policy.residencyTicks;
  return {state, isOver && event.triedAll, isOver && !event.triedAll};
}

}  // namespace dfccl::scheduling

// The scheduling policies as the engine calls them. Their equality with the TypeScript policies, and properties over
// random sequences, are tested from packages/scheduler; here: that they are constant expressions over plain data, and
// that bytes from outside can't break them.
#include <doctest/doctest.h>

#include <cstring>
#include <random>
#include <type_traits>

#include "scheduling/scheduler.hpp"

using namespace dfccl::scheduling;

namespace {

// Contexts are copied between device memory and shared memory byte by byte.
static_assert(std::is_trivially_copyable_v<SchedulePolicy> && std::is_standard_layout_v<SchedulePolicy>);
static_assert(std::is_trivially_copyable_v<ScheduleState> && std::is_standard_layout_v<ScheduleState>);
static_assert(std::is_trivially_copyable_v<QuitState> && std::is_standard_layout_v<QuitState>);

constexpr SchedulePolicy kAdaptive{
    .version = kSchedulePolicyVersion,
    .order = {OrderKind::fifo, {}, 1, 0, 8, 1024},
    .stickiness = {StickinessKind::adaptive, {}, 4, 2, 1000, 1, 20 * 256},
    .quit = {QuitKind::voluntary, {}, 20'000, 0, 2'000'000},
    .streams = 0,
    .reserved = 0,
};
static_assert(isValid(kAdaptive));

constexpr ScheduleState after(const SchedulePolicy& policy, ScheduleState state, EventKind kind, int times = 1) {
  for (int i = 0; i < times; ++i) state = transition(policy, state, {kind}).state;
  return state;
}

// Evaluated by the compiler, so without undefined behaviour: a task that keeps succeeding reaches the maximum and
// stays.
static_assert(after(kAdaptive, started(kAdaptive, 2, 0), EventKind::progressed, 1).current.threshold == 80);
static_assert(after(kAdaptive, started(kAdaptive, 2, 0), EventKind::progressed, 50).current.threshold == 1000);

SchedulePolicy randomPolicy(std::mt19937& random) {
  SchedulePolicy policy;
  unsigned char bytes[sizeof(policy)];
  for (unsigned char& byte : bytes) byte = static_cast<unsigned char>(random());
  std::memcpy(&policy, bytes, sizeof(policy));
  // Nearly all random bytes fail the first checks; these let some pass the later ones.
  policy.version = random() % 8 == 0 ? policy.version : kSchedulePolicyVersion;
  policy.order.kind = static_cast<OrderKind>(random() % 4);
  policy.stickiness.kind = static_cast<StickinessKind>(random() % 4);
  policy.quit.kind = static_cast<QuitKind>(random() % 4);
  policy.stickiness.raiseFactor256ths = random() % 70'000;
  policy.quit.idleVisits = random() % 2 == 0 ? 0 : policy.quit.idleVisits;
  policy.streams = random() % 2 == 0 ? 0 : policy.streams;
  return policy;
}

}  // namespace

TEST_CASE("a stuck task gives its turn to the next and keeps its position") {
  ScheduleState state = started(kAdaptive, 3, 0);
  state = after(kAdaptive, state, EventKind::stuck, 3);
  CHECK(state.cursor == 0);
  const Decision decision = transition(kAdaptive, state, {EventKind::stuck});
  CHECK(decision.preempted);
  CHECK(decision.taskChanged);
  CHECK(decision.state.cursor == 1);
  CHECK(decision.state.length == 3);
  CHECK(decision.state.current.threshold == 3);  // one less at the second position
}

TEST_CASE("a task that is alone is never preempted, though its turns end") {
  ScheduleState state = started(kAdaptive, 1, 0);
  for (int i = 0; i < 40; ++i) {
    const Decision decision = transition(kAdaptive, state, {EventKind::stuck});
    CHECK_FALSE(decision.preempted);
    CHECK_FALSE(decision.taskChanged);
    state = decision.state;
  }
  CHECK(isAllStuck(state));
}

TEST_CASE("with streams a task keeps its place until it completes, and later ones wait") {
  SchedulePolicy inOrder = kAdaptive;
  inOrder.streams = 2;
  ScheduleState state = started(inOrder, 4, 0);
  for (int i = 0; i < 100; ++i) {
    const Decision decision = transition(inOrder, state, {EventKind::stuck});
    CHECK_FALSE(decision.preempted);
    state = decision.state;
    CHECK(state.cursor == static_cast<uint32_t>((i + 1) % 2));
  }
  CHECK_FALSE(isTriedAll(transition(inOrder, started(inOrder, 4, 0), {EventKind::stuck}).state));
}

TEST_CASE("any policy that passes the check keeps every counter in its bounds") {
  std::mt19937 random(20240517);
  int validCount = 0;
  for (int i = 0; i < 200'000; ++i) {
    const SchedulePolicy policy = randomPolicy(random);
    if (!isValid(policy)) continue;
    ++validCount;
    ScheduleState state = started(policy, 0, 0);
    for (int visit = 0; visit < 60; ++visit) {
      Event event{static_cast<EventKind>(random() % kEventKindCount)};
      const bool needsTask = event.kind == EventKind::stuck || event.kind == EventKind::progressed ||
                             event.kind == EventKind::completed || event.kind == EventKind::preempted ||
                             event.kind == EventKind::removed;
      if (needsTask && state.length == 0) event.kind = EventKind::fetched;
      if (event.kind == EventKind::removed) event.position = static_cast<uint32_t>(random()) % state.length;
      if (event.kind == EventKind::fetched) {
        const auto equalPriorities = [](uint32_t) { return 0; };
        event.position =
            insertPosition(policy.order, equalPriorities, static_cast<int32_t>(random() % 3) - 1, state.length);
      }
      state = transition(policy, state, event).state;
      const bool isWithin = state.length == 0 ? state.cursor == 0 : state.cursor < state.length;
      const bool isUrgentAhead = state.urgent == kNoPosition || state.urgent < state.cursor;
      const bool isThresholdWithin = state.current.threshold >= policy.stickiness.minimumThreshold &&
                                     state.current.threshold <= policy.stickiness.maximumThreshold;
      REQUIRE((isWithin && isUrgentAhead && isThresholdWithin && state.untriedTurns <= state.length &&
               state.unstuckTurns <= state.length));
    }
  }
  CHECK(validCount > 500);
}

// The control of all deadlock tests: collectives that keep their order and their place, as NCCL's do. The legal
// situations of DFCCL's Fig. 1 must complete and the deadlocks must deadlock, or the control would prove nothing.
// (native/test/world/world_test.cpp has one with the watchdog that names the cycle.)
#include "support/plans.hpp"
#include "support/seeds.hpp"

using namespace dfccl;
using namespace dfccl::test;

namespace {

enum class Mode { preemptive, inOrder };

Plan situation(Random& random, Mode mode, uint32_t streams, bool sameOrder, bool synchronizes) {
  Plan plan;
  plan.shape.ranks = 2 + random.below(2);
  plan.shape.policy = anyPolicy(random);
  if (mode == Mode::inOrder) {
    plan.shape.policy.order = {scheduling::OrderKind::fifo, {}, 1, 1, 64, 64};
    plan.shape.policy.quit = {scheduling::QuitKind::whenEmpty, {}, 9, 0, 0};
    plan.shape.policy.streams = streams;
  }
  const uint32_t n = plan.shape.ranks;
  for (uint32_t id = 0; id < 3; ++id) {
    plan.collectives.push_back(allReduceOf(id, n, 9, ringAllReduce(Protocol::simple, n)));
  }
  // Several runs of an id may follow each other before the first is done.
  std::vector<uint32_t> order{0, 1, 0, 2, 2, 1, 0, 1};
  if (synchronizes) order = {0, 1, 2};
  random.shuffle(order);
  for (uint32_t rank = 0; rank < n; ++rank) {
    AppThread thread{rank, {{Action::enroll, 0}, {Action::enroll, 1}, {Action::enroll, 2}}};
    if (!sameOrder) random.shuffle(order);
    for (const uint32_t c : order) {
      thread.actions.push_back({Action::submit, c});
      if (synchronizes) thread.actions.push_back({Action::synchronize});
    }
    plan.threads.push_back(std::move(thread));
  }
  return plan;
}

auto plansFor(Mode mode, uint32_t streams, bool sameOrder, bool synchronizes) {
  return [=](Random& random) { return situation(random, mode, streams, sameOrder, synchronizes); };
}

}  // namespace

TEST_CASE("Fig. 1(a): one queue and one order on all ranks complete") {
  everySeedHolds(300, plansFor(Mode::inOrder, 1, true, false));
  everySeedHolds(300, plansFor(Mode::inOrder, 2, true, false));
  everySeedHolds(300, plansFor(Mode::inOrder, 1, true, true));
}

TEST_CASE("Fig. 1(b): enough streams complete in any order") {
  everySeedHolds(300, plansFor(Mode::inOrder, 8, false, false));
}

TEST_CASE("Fig. 1(c): one queue, or too few streams, deadlock in different orders, and preemption prevents it") {
  someSeedFails<AllRules>("preemption, one queue", 300, plansFor(Mode::inOrder, 1, false, false));
  someSeedFails<AllRules>("preemption, too few streams", 300, plansFor(Mode::inOrder, 2, false, false));
  everySeedHolds(300, plansFor(Mode::preemptive, 0, false, false));
}

TEST_CASE("Fig. 1(d): enough streams deadlock with synchronizations, and preemption prevents it") {
  someSeedFails<AllRules>("preemption, synchronizations", 300, plansFor(Mode::inOrder, 8, false, true));
  everySeedHolds(300, plansFor(Mode::preemptive, 0, false, true));
}

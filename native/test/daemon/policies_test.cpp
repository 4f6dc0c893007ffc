// What policies may and may not change: the order and the cost, never the result.
#include "support/plans.hpp"
#include "support/seeds.hpp"

using namespace dfccl;
using namespace dfccl::test;
using namespace dfccl::scheduling;

namespace {

/// Ring collectives of all ranks in random orders: everything waits for everything.
Plan disorder(Random& random) {
  Plan plan;
  plan.shape.ranks = 3;
  plan.shape.limits.grid = 1 + random.below(2);
  plan.shape.policy = anyPolicy(random);
  for (uint32_t id = 0; id < 6; ++id) {
    plan.collectives.push_back(allReduceOf(id, 3, 9, ringAllReduce(Protocol::simple, 3, 1 + id % 2)));
    plan.collectives.back().spec.priority = static_cast<int32_t>(random.below(3));
  }
  addThreads(plan, random, 1, 3);
  return plan;
}

/// Ids in the order in which they completed. One rank; every run takes several slices.
std::vector<uint32_t> completionOrder(OrderKind kind, const std::vector<int32_t>& priorities, bool lastComesLater) {
  Random random(1);
  Plan plan;
  plan.shape.ranks = 1;
  plan.shape.policy = anyPolicy(random);
  plan.shape.policy.order = {kind, {}, 1, 1, 64, 64};
  plan.shape.policy.quit.residencyTicks = 1'000'000;
  Surroundings::stepBudgetBytes = 0;
  UserMemory memory(1 << 16);
  const MemoryWatch watch(memory);
  uint8_t* buffer = memory.allocate(4096);
  memory.lend(buffer, 4096);
  TestWorld<AllRules> world(plan.shape);
  std::vector<uint32_t> index;
  for (uint32_t id = 0; id < priorities.size(); ++id) {
    PlannedCollective c = allReduceOf(id, 1, 32, ringAllReduce(Protocol::simple, 1));
    c.spec.priority = priorities[id];
    index.push_back(world.registerCollective(0, c.spec, c.program(0)));
  }
  const auto submit = [&](uint32_t id) { world.submit(0, index[id], buffer, buffer + 128 * (id + 1)); };
  const auto count = static_cast<uint32_t>(priorities.size());
  for (uint32_t id = 0; id + (lastComesLater ? 1 : 0) < count; ++id) submit(id);
  std::vector<uint32_t> order;
  for (int step = 0; order.size() < count && step < 1000; ++step) {
    ++Surroundings::now;
    world.tryStart(0);
    world.stepBlock(0, 0);
    if (lastComesLater && step == 3) submit(count - 1);
    while (const auto completion = world.poll(0)) order.push_back(completion->index);
  }
  return order;
}

/// Visits that a task gets before it is first preempted, its peer being away, while the clock advances as it likes.
/// (The other one's first turn is none of the schedule's.)
uint64_t visitsBeforePreemption(uint32_t threshold, uint64_t ticksPerStep) {
  Plan plan;
  Random random(1);
  plan.shape.policy = anyPolicy(random);
  plan.shape.policy.stickiness = {StickinessKind::fixed, {}, threshold, 1, threshold, 0, 256};
  plan.shape.policy.quit = {QuitKind::voluntary, {}, 1000, 0, 0};
  TestWorld<AllRules> world(plan.shape);
  for (uint32_t id = 0; id < 2; ++id) {
    const PlannedCollective c = allReduceOf(id, 2, 4, ringAllReduce(Protocol::simple, 2));
    world.submit(0, world.registerCollective(0, c.spec, c.program(0)), nullptr, nullptr);
  }
  const BlockCounters& counters = world.memory(0).blocks[0].counters;
  for (int step = 0; counters.preemptions.read() == 0 && step < 10'000; ++step) {
    Surroundings::now += ticksPerStep;
    world.tryStart(0);
    world.stepBlock(0, 0);
  }
  return counters.stuckVisits.read();
}

/// Steps until a task that can go on has been given its first turn, behind one that made progress for long and then
/// waits for its peer. 0: not within the limit.
int stepsUntilTheNextTurn(uint32_t maximumThreshold) {
  SchedulePolicy p{};
  p.version = kSchedulePolicyVersion;
  p.order = {OrderKind::fifo, {}, 1, 1, 64, 64};
  p.stickiness = {StickinessKind::adaptive, {}, 8, 1, maximumThreshold, 0, 20 * 256};
  ScheduleState state = started(p, 0, 0);
  state = transition(p, state, {EventKind::fetched, 0}).state;
  state = transition(p, state, {EventKind::fetched, 1}).state;
  for (int slice = 0; slice < 40; ++slice) state = transition(p, state, {EventKind::progressed}).state;
  for (int step = 1; step < 1'000'000; ++step) {
    const Decision decision = transition(p, state, {EventKind::stuck});
    if (decision.taskChanged) return step;
    state = decision.state;
  }
  return 0;
}

}  // namespace

TEST_CASE("every order and stickiness policy completes") {
  for (const OrderKind order : {OrderKind::fifo, OrderKind::lifo, OrderKind::priority}) {
    for (const StickinessKind stickiness :
         {StickinessKind::fixed, StickinessKind::decreasing, StickinessKind::adaptive}) {
      everySeedHolds(60, [order, stickiness](Random& random) {
        Plan plan = disorder(random);
        plan.shape.policy.order.kind = order;
        plan.shape.policy.stickiness.kind = stickiness;
        return plan;
      });
    }
  }
}

TEST_CASE("without preemption the same schedules deadlock") {
  someSeedFails<AllRules>("preemption", 60, [](Random& random) {
    Plan plan = disorder(random);
    plan.shape.policy.order.kind = OrderKind::fifo;
    plan.shape.policy.streams = 1;
    plan.shape.policy.quit = {QuitKind::whenEmpty, {}, 9, 0, 0};
    return plan;
  });
}

TEST_CASE("the more urgent collective completes first, also one that comes later") {
  using Ids = std::vector<uint32_t>;
  CHECK(completionOrder(OrderKind::priority, {0, 2, 1, 2}, false) == Ids{1, 3, 2, 0});
  CHECK(completionOrder(OrderKind::priority, {0, 0, 5}, true) == Ids{2, 0, 1});
  // Control: an order that doesn't look at priorities.
  CHECK(completionOrder(OrderKind::fifo, {0, 2, 1, 2}, false) == Ids{0, 1, 2, 3});
  CHECK(completionOrder(OrderKind::fifo, {0, 0, 5}, true) == Ids{0, 1, 2});
}

TEST_CASE("thresholds count visits, whatever the clock does") {
  for (const uint64_t ticks : {uint64_t{0}, uint64_t{1}, uint64_t{1'000'000'000}}) {
    CHECK(visitsBeforePreemption(5, ticks) == 5);
    CHECK(visitsBeforePreemption(50, ticks) == 50);
  }
}

TEST_CASE("a threshold that is raised at every success stops below the quit period") {
  CHECK(stepsUntilTheNextTurn(256) == 256);
  // Control: one with no bound outwaits everything behind it.
  CHECK(stepsUntilTheNextTurn(0xffffffff) == 0);
  // Nor does it wrap and become small, as it would at the fourth success of the paper's own figures.
  const StickinessPolicy policy{StickinessKind::adaptive, {}, 100'000, 1, 0xffffffff, 0, 20 * 256};
  uint32_t saturating = 100'000, wrapping = 100'000;
  bool hasShrunk = false;
  for (int success = 1; success <= 10; ++success) {
    CHECK(onSuccess(policy, saturating) >= saturating);
    saturating = onSuccess(policy, saturating);
    hasShrunk |= wrapping * 20 < wrapping;
    wrapping *= 20;
  }
  CHECK(saturating == 0xffffffff);
  CHECK(hasShrunk);
}

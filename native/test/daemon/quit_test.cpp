// Leaving and coming back.
#include "support/plans.hpp"
#include "support/seeds.hpp"

using namespace dfccl;
using namespace dfccl::test;

namespace {

/// Several blocks, programs of several blocks, many short stays.
Plan shortStays(Random& random) {
  Plan plan;
  plan.shape.ranks = 2 + random.below(2);
  plan.shape.limits.grid = 2 + random.below(3);
  plan.shape.policy = anyPolicy(random);
  plan.shape.policy.quit.residencyTicks = random.among({uint64_t{10}, uint64_t{100}});
  const uint32_t n = plan.shape.ranks;
  for (uint32_t id = 0; id < 4; ++id) {
    plan.collectives.push_back(allReduceOf(id, n, 24, ringAllReduce(Protocol::simple, n, 1 + random.below(4))));
    plan.collectives.back().isInPlace = random.oneIn(2);
  }
  addThreads(plan, random, 2, 2);
  return plan;
}

/// More tasks in a block than context slots, so that every switch may throw a context out.
Plan manyTasks(Random& random) {
  Plan plan = shortStays(random);
  plan.shape.limits.grid = 1;
  plan.shape.limits.completionSlots = 64;
  plan.shape.policy.quit.residencyTicks = 5000;
  plan.collectives.clear();
  plan.threads.clear();
  for (uint32_t id = 0; id < 12; ++id) {
    plan.collectives.push_back(
        allReduceOf(id, plan.shape.ranks, 24, ringAllReduce(Protocol::simple, plan.shape.ranks, 2)));
    plan.collectives.back().isInPlace = true;
  }
  addThreads(plan, random, 1, 0);
  return plan;
}

/// Whoever has lost a submission has nothing else in flight that would bring the daemon back.
Plan oneAtATime(Random& random) {
  Plan plan;
  plan.shape.limits.grid = 1 + random.below(2);
  plan.shape.policy = anyPolicy(random);
  plan.shape.policy.quit.idleVisits = 9;
  plan.shape.policy.quit.idleTicks = 0;
  plan.collectives.push_back(allReduceOf(0, 2, 4));
  for (uint32_t rank = 0; rank < 2; ++rank) {
    plan.threads.push_back({rank, {{Action::enroll, 0}}});
    for (int run = 0; run < 8; ++run) {
      plan.threads.back().actions.push_back({Action::submit, 0});
      plan.threads.back().actions.push_back({Action::awaitAll});
    }
  }
  return plan;
}

/// One thread synchronizes while another of the same process keeps submitting what always makes progress.
Plan synchronizeUnderLoad(Random& random) {
  Plan plan;
  plan.shape.ranks = 1;
  plan.shape.limits.grid = 1 + random.below(2);
  plan.shape.policy = anyPolicy(random);
  plan.shape.policy.quit.idleTicks = 10'000'000;  // it is never idle for that long
  plan.shape.policy.quit.residencyTicks = random.among({uint64_t{20}, uint64_t{500}});
  plan.collectives.push_back(allReduceOf(0, 1, 8, ringAllReduce(Protocol::simple, 1, 2)));
  plan.threads.push_back({0, {{Action::enroll, 0}, {Action::submit, 0}, {Action::synchronize}}});
  plan.threads.push_back({0, {{Action::keepSubmitting, 0}}});
  plan.maxPicks = 20'000;
  return plan;
}

struct BlocksDecideAlone : AllRules {
  static constexpr bool quitAsAWhole = false;
};
struct ContextsAreLost : AllRules {
  static constexpr bool saveDirtyContexts = false;
};
struct QueuesAreLost : AllRules {
  static constexpr bool saveQueue = false;
};
struct UnboundedStay : AllRules {
  static constexpr bool boundedResidency = false;
};
struct StaysEndAnywhere : AllRules {
  static constexpr bool everyStayTriesAll = false;
};
struct NoSecondLook : AllRules {
  static constexpr bool secondLookAfterExit = false;
};

}  // namespace

TEST_CASE("the leader decides to leave, and all blocks stop at one position of the sequence") {
  const Totals totals = everySeedHolds(600, shortStays);
  CHECK(totals.launches > 2 * totals.completions);
  someSeedFails<BlocksDecideAlone>("the daemon leaves as a whole", 600, shortStays);
}

TEST_CASE("contexts that changed outlive a stay, and the loss of their slot") {
  everySeedHolds(300, manyTasks);
  someSeedFails<ContextsAreLost>("dirty contexts are saved, many stays", 300, shortStays);
  someSeedFails<ContextsAreLost>("dirty contexts are saved, more tasks than slots", 300, manyTasks);
}

TEST_CASE("task queues outlive a stay") { someSeedFails<QueuesAreLost>("queues are saved", 300, shortStays); }

TEST_CASE("a submission that meets a leaving daemon is not lost") {
  everySeedHolds(600, oneAtATime);
  someSeedFails<NoSecondLook>("a second look after exit", 600, oneAtATime);
}

TEST_CASE("a synchronization ends although others keep submitting") {
  everySeedHolds(100, synchronizeUnderLoad);
  someSeedFails<UnboundedStay>("a stay is bounded", 100, synchronizeUnderLoad);
}

TEST_CASE("every stay tries every task, however short it is") {
  // A task uses up its threshold only if the stay lasts that long; what it counted ends with the stay.
  const auto plan = [](Random& random) {
    Plan p = shortStays(random);
    p.shape.policy.stickiness = {scheduling::StickinessKind::fixed, {}, 8, 8, 8, 0, 256};
    p.shape.policy.quit.residencyTicks = 1;
    return p;
  };
  everySeedHolds(300, plan);
  someSeedFails<StaysEndAnywhere>("every stay tries all", 300, plan);
}

TEST_CASE("a stay of several blocks ends while tasks are stuck below their thresholds") {
  // A block that drains gives each task one visit, so its tasks never count as stuck; that they were tried is enough.
  everySeedHolds(300, [](Random& random) {
    Plan p = shortStays(random);
    p.shape.policy.stickiness = {scheduling::StickinessKind::fixed, {}, 3, 3, 3, 0, 256};
    return p;
  });
}

TEST_CASE("a policy that looks for entries only when every task is stuck looks once in every stay") {
  everySeedHolds(300, [](Random& random) {
    Plan p = manyTasks(random);
    p.shape.policy.order.kind = scheduling::OrderKind::fifo;
    p.shape.policy.order.fetchEveryVisits = 0;
    p.shape.policy.order.fetchesPerLap = 1;
    p.shape.policy.quit.idleTicks = 0;
    p.shape.policy.quit.residencyTicks = 40;
    return p;
  });
}

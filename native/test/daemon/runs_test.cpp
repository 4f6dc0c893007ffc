// Names, runs and completions: several runs of one id are in flight, in several blocks.
#include "support/plans.hpp"
#include "support/seeds.hpp"

using namespace dfccl;
using namespace dfccl::test;

namespace {

/// Many runs of few ids; more in flight than there are completion slots.
Plan manyRuns(Random& random) {
  Plan plan;
  plan.shape.ranks = 2 + random.below(2);
  plan.shape.limits.grid = 1 + random.below(3);
  plan.shape.policy = anyPolicy(random);
  const uint32_t n = plan.shape.ranks;
  plan.collectives.push_back(allReduceOf(0, n, 17, stagedRingAllReduce(Protocol::ll, n)));
  plan.collectives.push_back(allReduceOf(1, n, 17, directAllReduce(n, 3)));
  plan.collectives.push_back(allReduceOf(2, n, 17, ringAllReduce(Protocol::simple, n, 2)));
  addThreads(plan, random, 6, random.among({0u, 5u}));
  return plan;
}

Plan withSlots(Random& random, HostMistakes::Slot choice) {
  Plan plan = manyRuns(random);
  plan.shape.mistakes.completionSlot = choice;
  return plan;
}

/// Collectives that any blocks may have.
Plan movable(Random& random) {
  Plan plan;
  plan.shape.ranks = 2 + random.below(2);
  plan.shape.limits.grid = 2 + random.below(3);
  plan.shape.policy = anyPolicy(random);
  const uint32_t n = plan.shape.ranks;
  const ProgramOf exchange = [n](uint32_t member) { return buildExchangeProgram(n, member, 1); };
  plan.collectives.push_back(allReduceOf(0, n, 11, exchange));
  plan.collectives.push_back(allReduceOf(1, n, 11, directAllReduce(n, 1)));
  plan.collectives.push_back(allReduceOf(2, n, 5, exchange));
  plan.collectives.push_back(allReduceOf(3, n, 11, directAllReduce(n, 2)));
  for (PlannedCollective& c : plan.collectives) c.isInPlace = random.oneIn(2);
  addThreads(plan, random, 5, random.among({0u, 3u}));
  return plan;
}

/// What each block of a rank has taken in: lone runs, one after another, or all at once.
std::vector<uint64_t> tasksTaken(bool atOnce) {
  constexpr uint32_t kCollectives = 6, kGrid = 3;
  Random random(1);
  WorldShape shape;
  shape.ranks = 1;
  shape.limits.grid = kGrid;
  shape.policy = anyPolicy(random);
  shape.policy.order.fetchBatch = 64;
  TestWorld<AllRules> world(shape);
  UserMemory memory(1 << 16);
  const MemoryWatch watch(memory);
  uint8_t* const buffer = memory.allocate(16);
  memory.lend(buffer, 16);
  uint32_t completed = 0;
  const auto finish = [&](uint32_t wanted) {
    for (int turn = 0; turn < 1000 && completed < wanted; ++turn) {
      ++Surroundings::now;
      world.tryStart(0);
      for (uint32_t b = 0; b < kGrid; ++b) world.stepBlock(0, b);
      completed += world.poll(0).has_value();
    }
    CHECK(completed == wanted);
  };
  for (uint32_t id = 0; id < kCollectives; ++id) {
    const PlannedCollective c = allReduceOf(id, 1, 4, directAllReduce(1, 1));
    const uint32_t index = world.registerCollective(0, c.spec, c.program(0));
    REQUIRE(world.submit(0, index, buffer, buffer).has_value());
    if (!atOnce) finish(id + 1);
  }
  finish(kCollectives);
  std::vector<uint64_t> taken;
  for (uint32_t b = 0; b < kGrid; ++b) taken.push_back(world.memory(0).blocks[b].counters.tasksTaken.read());
  return taken;
}

struct MovesAnyTime : AllRules {
  static constexpr bool movesBetweenRuns = false;
};
/// Two blocks of a program in different runs of the same id.
struct RunsOverlap : AllRules {
  static constexpr bool runsInOrder = false;
};

}  // namespace

TEST_CASE("runs of one id have addresses, a count and a completion slot of their own") {
  everySeedHolds(800, manyRuns);
  someSeedFails<AllRules>("a run has its own record: the id names it", 800,
                          [](Random& random) { return withSlots(random, HostMistakes::Slot::byCollective); });
  someSeedFails<AllRules>("a completion slot is free when it is claimed: the queue position names it", 800,
                          [](Random& random) { return withSlots(random, HostMistakes::Slot::byPosition); });
}

TEST_CASE("a block that lags behind takes no run for another") {
  // It has no part in what the others finish meanwhile, and sees the entries when their slots have new owners.
  everySeedHolds(600, [](Random& random) {
    Plan plan;
    plan.shape.ranks = 1;
    plan.shape.limits.grid = 2;
    plan.shape.limits.completionSlots = 8;
    plan.shape.policy = anyPolicy(random);
    plan.shape.policy.quit.residencyTicks = 100'000;
    plan.collectives.push_back(allReduceOf(0, 1, 4, ringAllReduce(Protocol::simple, 1, 1)));
    plan.collectives.push_back(allReduceOf(1, 1, 4, ringAllReduce(Protocol::simple, 1, 2)));
    addThreads(plan, random, 40, 0);
    return plan;
  });
}

TEST_CASE("a block starts a run only after the run before is finished on every local block") {
  someSeedFails<RunsOverlap>("runs in order", 800, manyRuns);
  // Each kind of program needs it for a reason of its own: scratch memory, and the mailbox.
  for (const uint32_t only : {0u, 1u}) {
    someSeedFails<RunsOverlap>(only == 0 ? "runs in order, staged" : "runs in order, direct", 800,
                               [only](Random& random) {
                                 Plan plan = manyRuns(random);
                                 plan.collectives = {plan.collectives[only]};
                                 plan.collectives[0].spec.id = 0;
                                 plan.threads.clear();
                                 addThreads(plan, random, 6, 0);
                                 return plan;
                               });
  }
}

TEST_CASE("a run that comes alone is the leader's block's; of several, the others have theirs") {
  CHECK(tasksTaken(false) == std::vector<uint64_t>{6, 0, 0});
  CHECK(tasksTaken(true) == std::vector<uint64_t>{1, 2, 3});
}

TEST_CASE("a collective changes its block only between two runs") {
  everySeedHolds(800, movable);
  someSeedFails<MovesAnyTime>("a collective stays where a run of it is under way", 800, movable);
}

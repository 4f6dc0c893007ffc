// Giving an id up, and using it again.
#include "support/plans.hpp"
#include "support/seeds.hpp"

using namespace dfccl;
using namespace dfccl::test;

namespace {

/// Some rank gives each id up at some time; every rank gets its buffers back, and then uses the id anew.
Plan abortAndReuse(Random& random) {
  Plan plan;
  plan.shape.ranks = 2 + random.below(2);
  plan.shape.limits.grid = 1 + random.below(3);
  plan.shape.policy = anyPolicy(random);
  plan.togetherBytes = random.among({0u, 1u << 20});
  const uint32_t n = plan.shape.ranks;
  plan.collectives.push_back(allReduceOf(0, n, 11));
  plan.collectives.push_back(allReduceOf(1, n, 11, directAllReduce(n, 3)));
  plan.collectives.push_back(allReduceOf(2, n, 11, ringAllReduce(Protocol::ll, n, 2)));
  const uint32_t aborter[] = {random.below(n), random.below(n), random.below(n)};
  for (uint32_t rank = 0; rank < n; ++rank) {
    // A thread for each, because what waits for one id must not keep the others from it.
    for (uint32_t c = 0; c < 3; ++c) {
      std::vector<Action> actions{{Action::enroll, c}, {Action::awaitRegistered, c}};
      for (uint32_t run = 1 + random.below(3); run > 0; --run) actions.push_back({Action::submit, c});
      if (rank == aborter[c]) actions.push_back({Action::abort, c});
      if (random.oneIn(2)) actions.push_back({Action::submit, c});  // too late, or not
      actions.push_back({Action::awaitQuarantine, c});
      actions.push_back({Action::unregister, c});
      actions.push_back({Action::enroll, c});
      for (int run = 0; run < 3; ++run) actions.push_back({Action::submit, c});
      plan.threads.push_back({rank, std::move(actions)});
    }
  }
  return plan;
}

/// The same with runs that go through rings.
Plan abortInRings(Random& random) {
  Plan plan = abortAndReuse(random);
  plan.togetherBytes = 0;
  for (PlannedCollective& c : plan.collectives) {
    c.program = {};
    c.spec.collective = random.among({Collective::allReduce, Collective::broadcast});
    c.rings = RingSizes{random.among({0u, 1u << 20}), 0, 8, 8, 1 + random.below(3), 8};
  }
  return plan;
}

/// The first of two members sends its part of an exchange, and gives the id up; the second comes late. Its leader has
/// looked at the requests before the abort, and not since. @return what became of the late run.
CqeStatus lateRunAfterAbort(bool forgetsControl) {
  Random random(1);
  WorldShape shape;
  shape.policy = anyPolicy(random);
  shape.policy.quit.kind = scheduling::QuitKind::never;
  shape.mistakes.forgetsControl = forgetsControl;
  shape.tiles = {1 << 10, 1 << 10};
  Surroundings::stepBudgetBytes = 1 << 20;
  Surroundings::togetherBytes = 0;
  UserMemory memory(1 << 16);
  const MemoryWatch watch(memory);
  TestWorld<AllRules> world(shape);
  const PlannedCollective c = allReduceOf(0, 2, 4, [](uint32_t member) { return buildExchangeProgram(2, member, 1); });
  uint32_t index[2];
  uint8_t* buffers[2];
  for (uint32_t r = 0; r < 2; ++r) {
    index[r] = world.registerCollective(r, c.spec, c.program(r));
    buffers[r] = memory.allocate(16);
    memory.lend(buffers[r], 16);
  }
  const auto stepUntil = [&](uint32_t rank, const auto& isThere) {
    while (!isThere()) {
      world.tryStart(rank);
      world.stepBlock(rank, 0);
    }
  };
  REQUIRE(world.submit(0, index[0], buffers[0], buffers[0]).has_value());
  stepUntil(0, [&] { return world.memory(0).blocks[0].counters.stuckVisits.read() > 2; });
  Surroundings::seenControl = 0;
  world.abort(0, index[0]);
  REQUIRE(world.submit(1, index[1], buffers[1], buffers[1]).has_value());
  std::optional<CqeStatus> status;
  stepUntil(1, [&] {
    if (const auto completion = world.poll(1)) status = completion->status;
    return status.has_value();
  });
  // It has passed the request on by now, and what it has seen is older than that.
  for (int step = 0; step < 10; ++step) world.stepBlock(1, 0);
  Surroundings::seenControl.reset();
  const ControlRing& control = world.memory(1).control;
  CHECK(control.head.load(order::relaxed) == (forgetsControl ? 0 : control.tail.load(order::relaxed)));
  return *status;
}

}  // namespace

TEST_CASE("a run that is submitted after an abort is aborted, also where the leader hasn't seen the request") {
  CHECK(lateRunAfterAbort(false) == CqeStatus::aborted);
  // The control: an entry that doesn't say so completes from what the other had sent.
  CHECK(lateRunAfterAbort(true) == CqeStatus::completed);
}

TEST_CASE("after an abort every run ends, every buffer comes back, and the id can be used anew") {
  everySeedHolds(1500, abortAndReuse);
  someSeedFails<AllRules>("buffers stay in quarantine until the peers have let go", 1500, [](Random& random) {
    Plan plan = abortAndReuse(random);
    plan.quarantineEndsAtAbort = true;
    return plan;
  });
  everySeedHolds(1500, abortInRings);
  someSeedFails<AllRules>("rings stay in quarantine", 1500, [](Random& random) {
    Plan plan = abortInRings(random);
    plan.ringsComeBackAtAbort = true;
    return plan;
  });
  someSeedFails<AllRules>("who registers after an abort begins another registration", 1500, [](Random& random) {
    Plan plan = abortAndReuse(random);
    plan.shape.mistakes.reRegistersIntoAborted = true;
    return plan;
  });
}

// Runs behind streams: none begins before its stream has come to it, runs of an id keep their order, and nobody else
// waits for it.
#include "support/plans.hpp"
#include "support/seeds.hpp"

using namespace dfccl;
using namespace dfccl::test;

namespace {

/// About half of the runs are behind streams, which come in any order.
void putBehindStreams(Plan& plan, Random& random) {
  for (AppThread& thread : plan.threads) {
    for (Action& action : thread.actions) {
      if (action.kind == Action::submit && random.oneIn(2)) action.kind = Action::submitBehind;
    }
  }
}

Plan behindStreams(Random& random) {
  Plan plan = anyPlan(random);
  putBehindStreams(plan, random);
  return plan;
}

/// Few ids with many runs each.
Plan sameIds(Random& random) {
  Plan plan;
  plan.shape.ranks = 1 + random.below(3);
  plan.shape.limits.grid = 1 + random.below(3);
  plan.shape.policy = anyPolicy(random);
  const uint32_t n = plan.shape.ranks;
  plan.collectives.push_back(allReduceOf(0, n, 7, directAllReduce(n, 1)));
  plan.collectives.push_back(allReduceOf(1, n, 7, [n](uint32_t m) { return buildExchangeProgram(n, m, 1); }));
  addThreads(plan, random, 6, random.among({0u, 4u}));
  putBehindStreams(plan, random);
  return plan;
}

/// A stream comes to its run only when what was submitted after that is complete.
Plan streamComesLast(Random& random) {
  Plan plan;
  plan.shape.limits.grid = 1 + random.below(2);
  plan.shape.policy = anyPolicy(random);
  plan.streamsArrive = false;
  for (uint32_t id = 0; id < 3; ++id) plan.collectives.push_back(allReduceOf(id, 2, 4));
  for (uint32_t rank = 0; rank < 2; ++rank) {
    plan.threads.push_back({rank, {{Action::enroll, 0}, {Action::enroll, 1}, {Action::enroll, 2}}});
    std::vector<Action>& actions = plan.threads.back().actions;
    for (int round = 0; round < 3; ++round) {
      actions.push_back({Action::submitBehind, 0});
      actions.push_back({Action::submit, 1});
      actions.push_back({Action::submitBehind, 2});
      actions.push_back({Action::await, 1});
      if (random.oneIn(2)) actions.push_back({Action::synchronize});
      actions.push_back({Action::arrive});
      actions.push_back({Action::await, 0});
      actions.push_back({Action::arrive});
      actions.push_back({Action::awaitAll});
    }
  }
  return plan;
}

/// One rank gives an id up while runs of it wait for streams.
Plan aborted(Random& random) {
  Plan plan;
  plan.shape.ranks = 2 + random.below(2);
  plan.shape.limits.grid = 1 + random.below(3);
  plan.shape.policy = anyPolicy(random);
  const uint32_t n = plan.shape.ranks;
  for (uint32_t id = 0; id < 2; ++id) plan.collectives.push_back(allReduceOf(id, n, 9, directAllReduce(n, 1)));
  for (uint32_t rank = 0; rank < n; ++rank) {
    AppThread thread{rank, {{Action::enroll, 0}, {Action::enroll, 1}, {Action::awaitRegistered, 0}}};
    for (int run = 0; run < 3; ++run) {
      thread.actions.push_back({random.oneIn(2) ? Action::submitBehind : Action::submit, 0});
      if (rank == 0 && run == 1) thread.actions.push_back({Action::abort, 0});
      thread.actions.push_back({random.oneIn(2) ? Action::submitBehind : Action::submit, 1});
    }
    // One run of the aborted id fewer than the others submitted: only the abort ends those.
    thread.actions.push_back({Action::awaitAll});
    thread.actions.push_back({Action::awaitQuarantine, 0});
    plan.threads.push_back(thread);
  }
  return plan;
}

/// Streams wait for runs, and other threads free memory meanwhile.
Plan streamsWait(Random& random) {
  Plan plan;
  plan.shape.ranks = 2 + random.below(3);
  plan.shape.limits.grid = 1 + random.below(3);
  plan.shape.policy = anyPolicy(random);
  plan.shape.sharesDevice = random.oneIn(2);
  const uint32_t n = plan.shape.ranks;
  for (uint32_t id = 0; id < 3; ++id) plan.collectives.push_back(allReduceOf(id, n, 7, directAllReduce(n, 1)));
  addThreads(plan, random, 3, 0);
  putBehindStreams(plan, random);
  for (AppThread& thread : plan.threads) {
    std::vector<Action> actions;
    for (const Action& action : thread.actions) {
      actions.push_back(action);
      if (action.kind != Action::enroll && random.oneIn(2))
        actions.push_back({Action::letStreamWait, action.collective});
    }
    thread.actions = actions;
  }
  for (uint32_t rank = 0; rank < n; ++rank) {
    plan.threads.push_back({rank, std::vector<Action>(4, {Action::freeMemory})});
  }
  return plan;
}

Plan streamsWaitUnlooked(Random& random) {
  Plan plan = streamsWait(random);
  plan.shape.mistakes.waitsWithoutLooking = true;
  return plan;
}

Plan hostAwaitsUncounted(Random& random) {
  Plan plan = streamsWait(random);
  plan.shape.mistakes.awaitsUncounted = true;
  return plan;
}

Plan hostStartsWhileOthersMustStay(Random& random) {
  Plan plan = streamsWait(random);
  plan.shape.sharesDevice = true;
  plan.shape.mistakes.startsWhileItKeeps = true;
  return plan;
}

Plan hostLooksAfterOneRank(Random& random) {
  Plan plan = streamsWait(random);
  plan.shape.sharesDevice = true;
  plan.shape.mistakes.looksAfterItsRankOnly = true;
  return plan;
}

struct LeavesWhileStreamsWait : AllRules {
  static constexpr bool staysForStreams = false;
};
struct LeavesWithoutAWord : AllRules {
  static constexpr bool saysThatItLeaves = false;
};
struct BeginsAnyway : AllRules {
  static constexpr bool waitsForStreams = false;
};
struct OvertakesItsId : AllRules {
  static constexpr bool waitsBehindItsId = false;
};
struct WaitsAtTheHead : AllRules {
  static constexpr bool waitsApart = false;
};

}  // namespace

TEST_CASE("a run behind a stream begins only when the stream has come to it") {
  everySeedHolds(800, behindStreams);
  someSeedFails<BeginsAnyway>("runs wait for their streams", 800, behindStreams);
}

TEST_CASE("runs of an id begin in the order of their submission, whichever of them wait for streams") {
  everySeedHolds(800, sameIds);
  someSeedFails<OvertakesItsId>("runs wait behind their id", 800, sameIds);
}

TEST_CASE("what waits for a stream keeps nothing else from beginning, and a daemon that left comes back for it") {
  const Totals totals = everySeedHolds(300, streamComesLast);
  CHECK(totals.launches > totals.completions / 6);
  someSeedFails<WaitsAtTheHead>("what waits for a stream waits apart", 300, streamComesLast);
}

TEST_CASE("an abort ends runs that wait for streams when these come") { everySeedHolds(600, aborted); }

TEST_CASE("memory is freed while streams wait for runs: no daemon is out that would have to be started") {
  everySeedHolds(600, streamsWait);
  someSeedFails<LeavesWhileStreamsWait>("daemons stay while streams wait", 600, streamsWait);
  someSeedFails<AllRules>("a stream waits only where daemons stay", 600, streamsWaitUnlooked);
  someSeedFails<AllRules>("... of all ranks of its device", 600, hostLooksAfterOneRank);
  someSeedFails<AllRules>("what is awaited anew is looked at", 600, hostAwaitsUncounted);
  someSeedFails<AllRules>("what is out is started before others must stay", 600, hostStartsWhileOthersMustStay);
  someSeedFails<LeavesWithoutAWord>("a daemon says that it leaves before it looks", 600, streamsWait);
}

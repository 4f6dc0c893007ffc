// Data: what is written when, and whose memory it is.
#include "support/plans.hpp"
#include "support/seeds.hpp"

using namespace dfccl;
using namespace dfccl::test;

namespace {

Plan emptyPlan(Random& random, uint32_t ranks) {
  Plan plan;
  plan.shape.ranks = ranks;
  plan.shape.limits.grid = 1 + random.below(2);
  plan.shape.policy = anyPolicy(random);
  plan.shape.tiles = {8, 8};
  return plan;
}

/// In place: what is reduced twice is wrong.
Plan rings(Random& random, Protocol protocol) {
  Plan plan = emptyPlan(random, 2 + random.below(3));
  const uint32_t n = plan.shape.ranks;
  for (uint32_t id = 0; id < 2; ++id) {
    plan.collectives.push_back(allReduceOf(id, n, 11, ringAllReduce(protocol, n, 1 + id)));
    plan.collectives.back().isInPlace = true;
  }
  addThreads(plan, random, 2, random.among({0u, 2u}));
  return plan;
}

/// The root has nobody to wait for but the slots.
Plan chains(Random& random, Protocol protocol) {
  Plan plan = emptyPlan(random, 3);
  for (uint32_t id = 0; id < 2; ++id) {
    const uint32_t root = random.below(3);
    plan.collectives.push_back(broadcastOf(id, 3, 19, root, chainBroadcast(protocol, 3, root, 1 + random.below(2))));
  }
  addThreads(plan, random, 2, random.among({0u, 2u}));
  return plan;
}

Plan directs(Random& random) {
  Plan plan = emptyPlan(random, 2 + random.below(3));
  const uint32_t n = plan.shape.ranks;
  plan.collectives.push_back(allReduceOf(0, n, 11));
  plan.collectives.push_back(allReduceOf(1, n, 11, directAllReduce(n, 2)));
  plan.collectives.push_back(allReduceOf(2, n, 5, pushAllGather(n)));
  plan.collectives.back().spec.collective = Collective::allGather;
  for (PlannedCollective& c : plan.collectives) c.isInPlace = random.oneIn(2);
  addThreads(plan, random, 3, random.among({0u, 2u}));
  return plan;
}

/// In place, with empty chunks and several slices.
Plan exchanges(Random& random) {
  Plan plan = emptyPlan(random, 2 + random.below(3));
  const uint32_t n = plan.shape.ranks;
  for (uint32_t id = 0; id < 3; ++id) {
    const uint32_t lanes = 1 + random.below(3);
    const auto program = [=](uint32_t member) { return buildExchangeProgram(n, member, lanes); };
    plan.collectives.push_back(allReduceOf(id, n, random.among({uint64_t{1}, uint64_t{11}}), program));
    plan.collectives.back().isInPlace = random.oneIn(2);
  }
  addThreads(plan, random, 4, random.among({0u, 2u}));
  return plan;
}

/// Several slices to a step, in chunks of which some are empty.
Plan large(Random& random) {
  Plan plan = emptyPlan(random, 2 + random.below(3));
  const uint32_t n = plan.shape.ranks;
  plan.shape.tiles.directTileBytes = random.among({8u, 16u});
  for (uint32_t id = 0; id < 3; ++id) {
    const uint32_t lanes = 1 + random.below(2), root = random.below(n);
    PlannedCollective c = broadcastOf(id, n, random.among({uint64_t{3}, uint64_t{41}}), root);
    c.spec.collective = random.among({Collective::allReduce, Collective::broadcast, Collective::reduce});
    c.program = [=, which = c.spec.collective](uint32_t member) {
      return buildLargeProgram(which, n, member, root, lanes);
    };
    c.isInPlace = random.oneIn(2);
    plan.collectives.push_back(std::move(c));
  }
  addThreads(plan, random, 3, random.among({0u, 2u}));
  return plan;
}

/// Of rings with so few slots that everybody waits for everybody, between buffers of which some are out of reach.
Plan throughRings(Random& random) {
  Plan plan = emptyPlan(random, 2 + random.below(3));
  const uint32_t n = plan.shape.ranks;
  for (uint32_t id = 0; id < 2; ++id) {
    PlannedCollective c = broadcastOf(id, n, random.among({uint64_t{3}, uint64_t{41}}), random.below(n));
    c.spec.collective = random.among({Collective::allReduce, Collective::allReduce, Collective::allGather,
                                      Collective::reduceScatter, Collective::allToAll, Collective::broadcast,
                                      Collective::reduce, Collective::gather, Collective::scatter});
    if (c.spec.collective == Collective::allReduce) c.spec.op = random.among({ReduceOp::sum, ReduceOp::scaledSum});
    c.isInPlace = c.spec.collective == Collective::allReduce && random.oneIn(2);
    c.rings = RingSizes{random.among({0u, 0u, 1u << 20}), 0, 8, 8, 1 + random.below(3), 8};
    plan.collectives.push_back(std::move(c));
  }
  addThreads(plan, random, 3, random.among({0u, 2u}));
  return plan;
}

Plan together(Random& random) {
  Plan plan = directs(random);
  plan.togetherBytes = 1 << 20;
  return plan;
}

struct ReadsAnyTile : AllRules {
  static constexpr bool readsWhatIsFilled = false;
};
struct OverwritesTiles : AllRules {
  static constexpr bool keepsWhatIsRead = false;
};
struct NoVote : AllRules {
  static constexpr bool voteBeforeWrite = false;
};
struct OneLanding : AllRules {
  static constexpr bool landsByParity = false;
};
struct NoCredits : AllRules {
  static constexpr bool credits = false;
};
struct AnonymousMailbox : AllRules {
  static constexpr bool mailboxNamesRun = false;
};
struct NoAcknowledgement : AllRules {
  static constexpr bool completeAfterAcknowledge = false;
};

}  // namespace

TEST_CASE("a slice writes nothing before all that it needs is there") {
  for (const Protocol protocol : everyProtocol()) {
    CAPTURE(nameOf(protocol));
    const auto plan = [protocol](Random& random) { return rings(random, protocol); };
    everySeedHolds(500, plan);
    someSeedFails<NoVote>("vote before write, " + std::string(nameOf(protocol)), 500, plan);
  }
}

TEST_CASE("members exchange their parts, whoever runs ahead") {
  everySeedHolds(800, exchanges);
  someSeedFails<NoVote>("vote before write, exchange", 800, exchanges);
  someSeedFails<OneLanding>("runs land in different halves by turns", 800, exchanges);
}

TEST_CASE("a sender that nobody holds back never overwrites a slot that is still full") {
  for (const Protocol protocol : everyProtocol()) {
    CAPTURE(nameOf(protocol));
    const auto plan = [protocol](Random& random) { return chains(random, protocol); };
    everySeedHolds(500, plan);
    someSeedFails<NoCredits>("credits, " + std::string(nameOf(protocol)), 500, plan);
  }
}

TEST_CASE("a peer's buffer is touched for the run only that the peer published") {
  everySeedHolds(800, directs);
  someSeedFails<AnonymousMailbox>("a mailbox names its run", 800, directs);
}

TEST_CASE("programs for large buffers go step by step, and whoever waits for a peer's buffers keeps its place") {
  everySeedHolds(800, large);
  someSeedFails<AnonymousMailbox>("a mailbox names its run, large buffers", 800, large);
  someSeedFails<NoAcknowledgement>("complete after acknowledgement, large buffers", 800, large);
}

TEST_CASE("a rank completes only after everybody is done with its buffers") {
  someSeedFails<NoAcknowledgement>("complete after acknowledgement", 800, directs);
}

TEST_CASE("what members don't reach goes through rings, tile by tile, whoever runs ahead") {
  everySeedHolds(1500, throughRings);
  someSeedFails<ReadsAnyTile>("a tile is read when it was filled", 800, throughRings);
  someSeedFails<OverwritesTiles>("a slot is written over when all have read it", 800, throughRings);
  someSeedFails<NoAcknowledgement>("complete after acknowledgement, rings", 800, throughRings);
}

TEST_CASE("whoever comes last executes for everybody, and nobody completes before that") {
  everySeedHolds(800, together);
  someSeedFails<AnonymousMailbox>("only the last to arrive executes", 800, together);
  someSeedFails<NoAcknowledgement>("the others wait for it", 800, together);
}

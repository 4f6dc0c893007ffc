// Registration: what ranks agree on, when a run may begin, and programs of any size on daemons of any size.
#include "base/error.hpp"
#include "support/plans.hpp"
#include "support/seeds.hpp"

using namespace dfccl;
using namespace dfccl::test;

namespace {

struct NotHeld : AllRules {
  static constexpr bool holdUntilRegistered = false;
};
struct BlockForBlock : AllRules {
  static constexpr bool tasksMapModulo = false;
};

Plan manyBlocks(Random& random) {
  Plan plan;
  plan.shape.ranks = 2;
  plan.shape.limits.grid = 1 + random.below(4);
  plan.shape.policy = anyPolicy(random);
  plan.collectives.push_back(allReduceOf(0, 2, 40, ringAllReduce(Protocol::simple, 2, 7)));
  plan.collectives.push_back(allReduceOf(1, 2, 40, directAllReduce(2, 5)));
  plan.collectives.push_back(allReduceOf(2, 2, 40, stagedRingAllReduce(Protocol::ll, 2)));
  addThreads(plan, random, 2, 4);
  return plan;
}

/// Rank 1's program has another idea of the ring's slots: it sends more than rank 0 made room for.
Plan disagreement(Random& random) {
  Plan plan;
  plan.shape.ranks = 2;
  plan.shape.policy = anyPolicy(random);
  const ProgramOf simple = ringAllReduce(Protocol::simple, 2), framed = ringAllReduce(Protocol::ll, 2);
  plan.collectives.push_back(allReduceOf(0, 2, 9, [=](uint32_t rank) {
    std::vector<uint8_t> bytes = rank == 0 ? simple(rank) : framed(rank);
    const uint64_t digest = 1 + rank;
    std::memcpy(bytes.data() + offsetof(ProgramHeader, digest), &digest, sizeof digest);
    return bytes;
  }));
  addThreads(plan, random, 2, 0);
  return plan;
}

/// What rank 0 of a chain broadcast has done alone, before rank 1 registered.
template <class Rules>
bool touchesItsOutputAlone() {
  Random random(1);
  Plan plan;
  plan.shape.policy = anyPolicy(random);
  Surroundings::stepBudgetBytes = 0;
  UserMemory memory(1 << 16);
  const MemoryWatch watch(memory);
  const PlannedCollective c = broadcastOf(0, 2, 4, 0, chainBroadcast(Protocol::simple, 2, 0, 2));
  TestWorld<Rules> world(plan.shape);
  uint8_t* buffers = memory.allocate(64);
  memory.lend(buffers, 64);
  std::memset(buffers, 7, 64);
  const uint32_t index = world.registerCollective(0, c.spec, c.program(0));
  world.submit(0, index, buffers, buffers + 32);
  for (int i = 0; i < 1000; ++i) {
    ++Surroundings::now;
    world.tryStart(0);
    world.stepBlock(0, 0);
  }
  std::memset(buffers, 9, 16);  // so that a copy of the input would show
  bool isUntouched = world.memory(0).collectives[index].connections[0].memory->tail.load(order::relaxed) == 0;
  for (int i = 32; i < 64; ++i) isUntouched &= buffers[i] == 7;
  // And after that it is complete, or was from the beginning.
  const uint32_t peer = world.registerCollective(1, c.spec, c.program(1));
  world.submit(1, peer, buffers, buffers + 48);
  for (int i = 0; i < 1000; ++i) {
    ++Surroundings::now;
    for (const uint32_t rank : {0u, 1u}) {
      world.tryStart(rank);
      world.stepBlock(rank, 0);
    }
  }
  CHECK(world.poll(0).has_value());
  CHECK(world.poll(1).has_value());
  return !isUntouched;
}

}  // namespace

TEST_CASE("any program runs on a daemon of any number of blocks") {
  everySeedHolds(400, manyBlocks);
  someSeedFails<BlockForBlock>("tasks map to blocks modulo the grid", 400, manyBlocks);
}

TEST_CASE("nothing of a run happens before every rank has registered") {
  // So a registration that another rank is refused, or an abort, finds the buffers as they were.
  CHECK_FALSE(touchesItsOutputAlone<AllRules>());
  CHECK(touchesItsOutputAlone<NotHeld>());
}

TEST_CASE("ranks that register different programs are told so, instead of running them") {
  Random random(1);
  const Plan plan = disagreement(random);
  TestWorld<AllRules> world(plan.shape);
  const PlannedCollective& c = plan.collectives[0];
  world.registerCollective(0, c.spec, c.program(0));
  try {
    world.registerCollective(1, c.spec, c.program(1));
    FAIL("accepted");
  } catch (const Error& e) {
    CHECK(e.status() == dfcclRegistrationMismatch);
    CHECK(std::string(e.what()).find("program") != std::string::npos);
  }
  someSeedFails<AllRules>("ranks compare what they register", 20, [](Random& r) {
    Plan p = disagreement(r);
    p.shape.mistakes.ignoresDisagreement = true;
    return p;
  });
}

TEST_CASE("ranks register in opposite orders, and none waits for another") {
  // In one thread: the first registration that waited would never return.
  Random random(1);
  Plan plan;
  plan.shape.policy = anyPolicy(random);
  TestWorld<AllRules> world(plan.shape);
  const PlannedCollective a = allReduceOf(0, 2, 4, ringAllReduce(Protocol::simple, 2));
  const PlannedCollective b = allReduceOf(1, 2, 4, ringAllReduce(Protocol::simple, 2));
  const uint32_t first = world.registerCollective(0, a.spec, a.program(0));
  // Control: a registration that waited here, stepping everything meanwhile, would wait for ever.
  for (int i = 0; i < 10'000; ++i) {
    for (const uint32_t rank : {0u, 1u}) {
      world.tryStart(rank);
      world.stepBlock(rank, 0);
    }
  }
  CHECK_FALSE(world.isComplete(0, first));
  const uint32_t second = world.registerCollective(1, b.spec, b.program(1));
  world.registerCollective(0, b.spec, b.program(0));
  world.registerCollective(1, a.spec, a.program(1));
  CHECK(world.isComplete(0, first));
  CHECK(world.isComplete(1, second));
}

// Who finds a block taken goes on.
#include "support/plans.hpp"

#include <doctest/doctest.h>

using namespace dfccl;
using namespace dfccl::test;

TEST_CASE("a step returns at once where another thread holds the block, and the other ranks go on") {
  Random random(1);
  Plan plan;
  plan.shape.ranks = 3;
  plan.shape.limits.grid = 2;
  plan.shape.policy = anyPolicy(random);
  UserMemory memory(1 << 16);
  const MemoryWatch watch(memory);
  Surroundings::stepBudgetBytes = 0;
  TestWorld<AllRules> world(plan.shape);
  uint8_t* buffer = memory.allocate(256);
  memory.lend(buffer, 256);
  // Collective 0 is of all ranks, collective 1 of ranks 1 and 2 only.
  uint32_t index[3][2];
  for (uint32_t id = 0; id < 2; ++id) {
    const uint32_t n = 3 - id;
    PlannedCollective c = allReduceOf(id, n, 4, ringAllReduce(Protocol::simple, n, 2));
    if (id == 1) c.spec.ranks = {1, 2};
    for (uint32_t member = 0; member < n; ++member) {
      index[c.spec.ranks[member]][id] = world.registerCollective(c.spec.ranks[member], c.spec, c.program(member));
    }
  }
  for (uint32_t rank = 0; rank < 3; ++rank) {
    for (uint32_t id = rank == 0 ? 1 : 2; id-- > 0;) {
      world.submit(rank, index[rank][id], buffer + 32 * rank, buffer + 128 + 32 * rank);
    }
    world.tryStart(rank);
  }
  const auto stepAll = [&] {
    bool any = false;
    for (int i = 0; i < 500; ++i) {
      ++Surroundings::now;
      for (uint32_t rank = 0; rank < 3; ++rank) {
        world.tryStart(rank);
        for (uint32_t block = 0; block < 2; ++block) {
          const bool moved = world.stepBlock(rank, block);
          if (rank == 0) any |= moved;
        }
      }
    }
    return any;
  };

  // As a thread does that the system puts aside in the middle of a step.
  world.daemon(0).lockBlocks();
  CHECK_FALSE(stepAll());
  CHECK(world.poll(1).has_value());
  CHECK(world.poll(2).has_value());
  CHECK_FALSE(world.poll(1).has_value());
  world.daemon(0).unlockBlocks();

  CHECK(stepAll());
  for (uint32_t rank = 0; rank < 3; ++rank) CHECK(world.poll(rank).has_value());
}

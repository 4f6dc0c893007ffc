// What a world of a C caller has who asks for nothing: the table of world/defaults.hpp. JavaScript's door is compared
// by packages/core/test/defaults.test.ts.
#include <cstring>

#include <doctest/doctest.h>
#include "c_api/open_world.hpp"
#include "dfccl/dfccl.h"
#include "world/defaults.hpp"

using namespace dfccl;

namespace {

void checkSame(const WorldOptions& used, const WorldOptions& table) {
  CHECK(used.limits.grid == table.limits.grid);
  CHECK(used.limits.submissionSlots == table.limits.submissionSlots);
  CHECK(used.limits.completionSlots == table.limits.completionSlots);
  CHECK(used.limits.collectives == table.limits.collectives);
  CHECK(used.limits.tasks == table.limits.tasks);
  CHECK(used.tiles.slotPayloadBytes == table.tiles.slotPayloadBytes);
  CHECK(used.tiles.directTileBytes == table.tiles.directTileBytes);
  CHECK(used.tiles.directTurnBytes == table.tiles.directTurnBytes);
  CHECK(used.arenaBytes == table.arenaBytes);
  CHECK(used.workers == table.workers);
  CHECK(std::memcmp(&used.policy, &table.policy, sizeof used.policy) == 0);
}

dfcclWorldConfig_t nothingAskedFor(uint32_t ranks) {
  dfcclWorldConfig_t config = DFCCL_WORLD_CONFIG_INIT;
  config.ranks = ranks;
  return config;
}

}  // namespace

TEST_CASE("a world that C opens has the defaults") {
  for (const uint32_t ranks : {1u, 2u, 64u}) {
    const dfcclWorldConfig_t config = nothingAskedFor(ranks);
    dfcclWorld_t handle = nullptr;
    REQUIRE(dfcclWorldCreate(&config, &handle) == dfcclSuccess);
    {
      const auto world = c_api::worlds().find(handle);
      REQUIRE(world);
      checkSame((*world)->backend().options(), defaultOptions(BackendKind::cpu, ranks, Span::process));
    }
    CHECK(dfcclWorldDestroy(handle) == dfcclSuccess);
  }
}

TEST_CASE("a rank that C joins with has the defaults") {
  dfcclJoinConfig_t config = DFCCL_JOIN_CONFIG_INIT;
  config.world = nothingAskedFor(1);
  config.job = "c-defaults";
  config.rank = 0;
  dfcclWorld_t handle = nullptr;
  REQUIRE(dfcclJoinWorld(&config, &handle, nullptr) == dfcclSuccess);
  {
    const auto world = c_api::worlds().find(handle);
    REQUIRE(world);
    checkSame((*world)->backend().options(), defaultOptions(BackendKind::cpu, 1, Span::machine));
  }
  CHECK(dfcclWorldDestroy(handle) == dfcclSuccess);
}

TEST_CASE("what follows from another option does so in C too") {
  dfcclWorldConfig_t config = nothingAskedFor(2);
  config.collectives = 64;
  config.streams = 3;
  const WorldOptions read = c_api::readConfig(&config, Span::process);
  CHECK(read.limits.tasks == defaultTasks(BackendKind::cpu, 64));
  const scheduling::SchedulePolicy inOrder = inOrderPolicy(BackendKind::cpu, 3);
  CHECK(std::memcmp(&read.policy, &inOrder, sizeof inOrder) == 0);
}

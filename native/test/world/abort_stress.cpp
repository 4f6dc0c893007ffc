// Collectives that are given up and registered again at once, while workers step the daemons that let go of them: for
// ThreadSanitizer, which saw a daemon look at one that its rank had unregistered.
#include <doctest/doctest.h>

#include <atomic>

#include "dfccl/dfccl.h"

namespace {

constexpr int kRanks = 2, kId = 3, kRounds = 3000;

void countAborted(void* aborted, dfcclResult_t result) {
  if (result == dfcclAborted) ++*static_cast<std::atomic<int>*>(aborted);
}

}  // namespace

TEST_CASE("nobody looks at an aborted collective any more when its rank has unregistered it") {
  dfcclWorldConfig_t config = DFCCL_WORLD_CONFIG_INIT;
  config.ranks = kRanks;
  config.workers = 2;
  config.grid = 2;
  dfcclWorld_t world = nullptr;
  REQUIRE(dfcclWorldCreate(&config, &world) == dfcclSuccess);
  dfcclRankCtx_t ctx[kRanks];
  for (int r = 0; r < kRanks; ++r) REQUIRE(dfcclInitRank(world, r, &ctx[r]) == dfcclSuccess);
  std::atomic<int> aborted{0};
  int refused = 0;
  float data[8] = {};
  const auto ok = [&](dfcclResult_t result) { refused += result != dfcclSuccess; };
  for (int round = 0; round < kRounds; ++round) {
    for (const auto& each : ctx) {
      ok(dfcclRegisterAllReduce(8, dfcclFloat32, dfcclSum, kId, dfcclAllRanks(), 0, each));
    }
    ok(dfcclRun(data, data, kId, countAborted, &aborted, ctx[0]));
    ok(dfcclAbort(kId, ctx[1]));
    ok(dfcclWait(ctx[0]));
    for (const auto& each : ctx) ok(dfcclUnregister(kId, each));
  }
  CHECK(refused == 0);
  CHECK(aborted == kRounds);
  for (const auto& each : ctx) CHECK(dfcclDestroy(each) == dfcclSuccess);
  CHECK(dfcclWorldDestroy(world) == dfcclSuccess);
}

/* Ranks register an id anew at their own pace: the first registration of each goes with the first of the others. */
#include "c_api/check.h"

enum { kRanks = 3, kId = 4, kCount = 8 };
static const uint64_t kTimeoutMicros = 10000000;

static void enroll(dfcclRankCtx_t ctx) {
  CHECK_OK(dfcclRegisterAllReduce(kCount, dfcclFloat32, dfcclSum, kId, dfcclAllRanks(), 0, ctx));
}

static void enroll_anew(dfcclRankCtx_t ctx) {
  CHECK_OK(dfcclUnregister(kId, ctx));
  enroll(ctx);
}

/* One leaves before the last one comes, whose registration joins what all members' programs do: the program of the one
 * that is gone, too. */
static void leave_early(dfcclRankCtx_t ctx[kRanks]) {
  enum { kOthers = 20, kFirst = 100 };
  enroll(ctx[0]);
  enroll(ctx[1]);
  CHECK_OK(dfcclUnregister(kId, ctx[0]));
  /* Whatever lay in its memory doesn't any more. */
  for (int i = 0; i < kOthers; i++)
    CHECK_OK(dfcclRegisterAllGather((size_t)i + 1, dfcclInt8, kFirst + i, dfcclAllRanks(), 0, ctx[0]));
  enroll(ctx[2]);
  for (int i = 0; i < kOthers; i++) CHECK_OK(dfcclUnregister(kFirst + i, ctx[0]));
  for (int r = 1; r < kRanks; r++) CHECK_OK(dfcclUnregister(kId, ctx[r]));
}

int main(void) {
  dfcclWorldConfig_t config = DFCCL_WORLD_CONFIG_INIT;
  config.ranks = kRanks;
  dfcclWorld_t world;
  CHECK_OK(dfcclWorldCreate(&config, &world));
  dfcclRankCtx_t ctx[kRanks];
  float data[kRanks][kCount];
  for (int r = 0; r < kRanks; r++) {
    CHECK_OK(dfcclInitRank(world, r, &ctx[r]));
    for (int i = 0; i < kCount; i++) data[r][i] = (float)(r + 1);
  }
  leave_early(ctx);
  enroll(ctx[1]);
  enroll(ctx[0]);
  enroll_anew(ctx[0]);
  /* Two registrations are open to rank 2 now: the older one is its first. */
  enroll(ctx[2]);
  enroll_anew(ctx[1]);
  enroll_anew(ctx[2]);
  for (int r = 0; r < kRanks; r++) CHECK_OK(dfcclRunAllReduce(data[r], data[r], kId, NULL, NULL, ctx[r]));
  for (int r = 0; r < kRanks; r++) CHECK_OK(dfcclWaitFor(kTimeoutMicros, ctx[r]));
  for (int r = 0; r < kRanks; r++) CHECK(count_equal(data[r], kCount, 6.0f));
  for (int r = 0; r < kRanks; r++) {
    CHECK_OK(dfcclUnregister(kId, ctx[r]));
    CHECK_OK(dfcclDestroy(ctx[r]));
  }
  CHECK_OK(dfcclWorldDestroy(world));
  return report();
}

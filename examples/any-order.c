/* Two ranks, one thread, opposite orders: from C, as from anywhere. docs/guide.md shows how to build it. */
#include <dfccl/dfccl.h>
#include <stdio.h>

enum { kRanks = 2, kCount = 1000 };

static void check(dfcclResult_t result) {
  if (result != dfcclSuccess) fprintf(stderr, "%s\n", dfcclGetLastError());
}

static void on_complete(void* what, dfcclResult_t status) {
  if (status == dfcclSuccess) printf("complete: %s\n", (const char*)what);
}

int main(void) {
  dfcclWorldConfig_t config = DFCCL_WORLD_CONFIG_INIT;
  config.ranks = kRanks;
  dfcclWorld_t world;
  dfcclRankCtx_t ctx[kRanks];
  static float send[kRanks][kCount], sums[kRanks][2][kCount];
  static char names[kRanks][2][32];

  check(dfcclWorldCreate(&config, &world));
  for (int rank = 0; rank < kRanks; rank++) {
    check(dfcclInitRank(world, rank, &ctx[rank]));
    for (int i = 0; i < kCount; i++) send[rank][i] = (float)(rank + 1);
    for (int id = 0; id < 2; id++) {
      check(dfcclRegisterAllReduce(kCount, dfcclFloat32, dfcclSum, id, dfcclAllRanks(), 0, ctx[rank]));
    }
  }
  for (int rank = 0; rank < kRanks; rank++) {
    for (int turn = 0; turn < 2; turn++) {
      const int id = turn ^ rank; /* rank 0: 0, 1; rank 1: 1, 0 */
      snprintf(names[rank][id], sizeof names[rank][id], "collective %d on rank %d", id, rank);
      check(dfcclRunAllReduce(send[rank], sums[rank][id], id, on_complete, names[rank][id], ctx[rank]));
    }
  }
  check(dfcclWaitAll(ctx, kRanks));
  for (int rank = 0; rank < kRanks; rank++) check(dfcclDestroy(ctx[rank]));
  check(dfcclWorldDestroy(world));
  return sums[0][0][kCount - 1] == 3 && sums[1][1][0] == 3 ? 0 : 1;
}

/* A rank can be asked who it is, alone and among processes, and what isn't one refuses. */
#include "c_api/processes.h"

typedef dfcclResult_t (*getter_t)(int* value, dfcclRankCtx_t ctx);

enum { kGetters = 6 };
static const getter_t getters[kGetters] = {dfcclGetRank,           dfcclGetRankCount, dfcclGetLocalRank,
                                           dfcclGetLocalRankCount, dfcclGetHost,      dfcclGetHostCount};

/* In the order of the getters. */
static void expect_place(dfcclRankCtx_t ctx, const int expected[kGetters]) {
  for (int i = 0; i < kGetters; i++) {
    int value = -1;
    CHECK_OK(getters[i](&value, ctx));
    CHECK(value == expected[i]);
  }
}

static void in_a_joined_world(dfcclRankCtx_t ctx, int rank, struct line line) {
  expect_place(ctx, (const int[kGetters]){rank, 2, rank, 2, 0, 1});
  say(line);
}

static void of_processes(void) {
  struct rank_process ranks[2];
  begin_ranks(ranks, in_a_joined_world);
  for (int r = 0; r < 2; r++) hear(ranks[r].parent);
  end_ranks(ranks);
}

static void in_a_world_of_threads(void) {
  enum { kRanks = 3 };
  dfcclWorld_t world = open_world(kRanks, DFCCL_NO_WORKERS);
  dfcclRankCtx_t ctx[kRanks];
  for (int r = 0; r < kRanks; r++) {
    CHECK_OK(dfcclInitRank(world, r, &ctx[r]));
    expect_place(ctx[r], (const int[kGetters]){r, kRanks, r, kRanks, 0, 1});
  }
  for (int i = 0; i < kGetters; i++) {
    int value = 77;
    CHECK(getters[i](NULL, ctx[0]) == dfcclInvalidArgument);
    CHECK(strstr(dfcclGetLastError(), "is null") != NULL);
    CHECK(getters[i](&value, NULL) == dfcclInvalidArgument);
    CHECK(strstr(dfcclGetLastError(), "context is null") != NULL);
    CHECK(value == 77);
  }
  for (int r = 0; r < kRanks; r++) CHECK_OK(dfcclDestroy(ctx[r]));
  for (int i = 0; i < kGetters; i++) {
    int value = 77;
    CHECK(getters[i](&value, ctx[0]) == dfcclClosed);
    CHECK(value == 77);
  }
  CHECK_OK(dfcclWorldDestroy(world));
}

static void in_the_default_world(void) {
  dfcclRankCtx_t ctx;
  setenv("DFCCL_RANKS", "5", 1);
  CHECK_OK(dfcclInit(&ctx, 4));
  expect_place(ctx, (const int[kGetters]){4, 5, 4, 5, 0, 1});
  CHECK_OK(dfcclDestroy(ctx));
  unsetenv("DFCCL_RANKS");
}

int main(void) {
  of_processes(); /* first: they fork */
  in_a_world_of_threads();
  in_the_default_world();
  return report();
}

/* Opening, aborting, destroying, in every order that a program may come up with. */
#include "c_api/check.h"

static atomic_int aborted, completed;
static void note(void* argument, dfcclResult_t status) {
  (void)argument;
  atomic_fetch_add(status == dfcclAborted ? &aborted : &completed, 1);
}

static void handles_are_recognised(void) {
  CHECK_OK(dfcclDestroy(NULL));
  CHECK_OK(dfcclWorldDestroy(NULL));
  dfcclWorld_t world = open_world(2, 1);
  dfcclRankCtx_t ctx, again;
  CHECK_OK(dfcclInitRank(world, 0, &ctx));
  CHECK(dfcclInitRank(world, 0, &again) == dfcclInUse);
  CHECK(again == NULL);
  CHECK(dfcclWorldDestroy(world) == dfcclInUse);
  CHECK_OK(dfcclDestroy(ctx));
  CHECK(dfcclDestroy(ctx) == dfcclClosed);
  CHECK(dfcclWait(ctx) == dfcclClosed);
  float x = 0;
  CHECK(dfcclRun(&x, &x, 1, NULL, NULL, ctx) == dfcclClosed);
  CHECK(strstr(dfcclGetLastError(), "has been destroyed") != NULL);
  CHECK_OK(dfcclInitRank(world, 0, &again));
  CHECK(again != ctx);
  CHECK(dfcclSynchronize(ctx) == dfcclClosed);
  CHECK_OK(dfcclDestroy(again));
  CHECK_OK(dfcclWorldDestroy(world));
  CHECK(dfcclWorldDestroy(world) == dfcclClosed);
  CHECK(dfcclInitRank(world, 0, &ctx) == dfcclClosed);
}

/* A rank that was destroyed opens again and works, while its peer stays. */
static void a_rank_opens_again(void) {
  dfcclWorld_t world = open_world(2, 1);
  dfcclRankCtx_t ctx[2];
  CHECK_OK(dfcclInitRank(world, 1, &ctx[1]));
  for (int round = 0; round < 5; round++) {
    CHECK_OK(dfcclInitRank(world, 0, &ctx[0]));
    float x[2] = {1, 2}, y[2] = {0, 0};
    for (int r = 0; r < 2; r++)
      CHECK_OK(dfcclRegisterAllReduce(1, dfcclFloat32, dfcclSum, 1, dfcclAllRanks(), 0, ctx[r]));
    for (int r = 0; r < 2; r++) CHECK_OK(dfcclRun(&x[r], &y[r], 1, NULL, NULL, ctx[r]));
    CHECK_OK(dfcclWaitAll(ctx, 2));
    CHECK(y[0] == 3 && y[1] == 3);
    CHECK_OK(dfcclUnregister(1, ctx[1]));
    CHECK(dfcclUnregister(1, ctx[1]) == dfcclUnknownCollective);
    CHECK_OK(dfcclDestroy(ctx[0]));
  }
  CHECK_OK(dfcclDestroy(ctx[1]));
  CHECK_OK(dfcclWorldDestroy(world));
}

static void the_default_world_ends_with_its_last_rank(void) {
  dfcclRankCtx_t a, b;
  setenv("DFCCL_RANKS", "1", 1);
  CHECK_OK(dfcclInit(&a, 0));
  setenv("DFCCL_RANKS", "2", 1); /* too late: the world is there */
  CHECK(dfcclInit(&b, 1) == dfcclInvalidArgument);
  CHECK_OK(dfcclDestroy(a));
  CHECK_OK(dfcclInit(&b, 1));
  CHECK_OK(dfcclDestroy(b));
  setenv("DFCCL_RANKS", "many", 1);
  CHECK(dfcclInit(&b, 0) == dfcclInvalidArgument);
  CHECK(strstr(dfcclGetLastError(), "DFCCL_RANKS") != NULL);
  unsetenv("DFCCL_RANKS");
  CHECK_OK(dfcclInit(&b, 63));
  CHECK(dfcclInit(&a, 64) == dfcclInvalidArgument);
  CHECK_OK(dfcclDestroy(b));
}

static void abort_ends_runs_that_nobody_joins(int32_t workers) {
  dfcclWorld_t world = open_world(3, workers);
  dfcclRankCtx_t ctx[3];
  float x[3] = {1, 1, 1};
  for (int r = 0; r < 3; r++) {
    CHECK_OK(dfcclInitRank(world, r, &ctx[r]));
    CHECK_OK(dfcclRegisterAllReduce(1, dfcclFloat32, dfcclSum, 5, dfcclAllRanks(), 0, ctx[r]));
  }
  atomic_store(&aborted, 0);
  atomic_store(&completed, 0);
  CHECK_OK(dfcclRun(&x[0], &x[0], 5, note, NULL, ctx[0]));
  CHECK_OK(dfcclRun(&x[1], &x[1], 5, note, NULL, ctx[1]));
  CHECK(dfcclWaitFor(1000, ctx[0]) == dfcclTimeout);
  CHECK(strstr(dfcclGetLastError(), "rank 2 has not submitted it") != NULL);
  char text[512], begins[8];
  CHECK_OK(dfcclDescribe(text, sizeof text, ctx[0]));
  CHECK(strstr(text, "Rank 0: 1 runs in flight.") == text && strstr(text, "rank 2 has not submitted it") != NULL);
  CHECK_OK(dfcclDescribe(begins, sizeof begins, ctx[0]));
  CHECK(strcmp(begins, "Rank 0:") == 0);
  CHECK_OK(dfcclDescribe(text, sizeof text, ctx[2]));
  CHECK(strcmp(text, "Rank 2: 0 runs in flight.") == 0);
  CHECK(dfcclDestroy(ctx[0]) == dfcclInUse);
  CHECK(dfcclUnregister(5, ctx[0]) == dfcclInUse);
  CHECK_OK(dfcclAbort(5, ctx[2]));
  CHECK_OK(dfcclAbort(5, ctx[1]));
  CHECK_OK(dfcclWaitAll(ctx, 3));
  CHECK(atomic_load(&aborted) == 2);
  CHECK(atomic_load(&completed) == 0);
  int is_over = 0;
  while (!is_over) {
    CHECK_OK(dfcclPoll(NULL, ctx[0]));
    CHECK_OK(dfcclIsQuarantineOver(5, &is_over, ctx[0]));
  }
  /* Later runs too, until everybody has registered it anew. */
  CHECK_OK(dfcclRun(&x[2], &x[2], 5, note, NULL, ctx[2]));
  CHECK_OK(dfcclWait(ctx[2]));
  CHECK(atomic_load(&aborted) == 3);
  for (int r = 0; r < 3; r++) CHECK_OK(dfcclUnregister(5, ctx[r]));
  for (int r = 0; r < 3; r++)
    CHECK_OK(dfcclRegisterAllReduce(1, dfcclFloat32, dfcclSum, 5, dfcclAllRanks(), 0, ctx[r]));
  for (int r = 0; r < 3; r++) CHECK_OK(dfcclRun(&x[r], &x[r], 5, note, NULL, ctx[r]));
  CHECK_OK(dfcclWaitAll(ctx, 3));
  CHECK(atomic_load(&completed) == 3);
  CHECK(x[0] == 3 && x[1] == 3 && x[2] == 3);
  /* Destroyed with an aborted id still registered. */
  CHECK_OK(dfcclAbort(5, ctx[0]));
  for (int r = 0; r < 3; r++) CHECK_OK(dfcclDestroy(ctx[r]));
  CHECK_OK(dfcclWorldDestroy(world));
}

static void rank_that_waits(int rank, void* shared) {
  dfcclRankCtx_t* ctx = shared;
  static float x[2][2];
  const int first = rank == 0 ? 1 : 2;
  CHECK_OK(dfcclRun(&x[rank][0], &x[rank][0], first, NULL, NULL, ctx[rank]));
  CHECK_OK(dfcclRun(&x[rank][1], &x[rank][1], 3 - first, NULL, NULL, ctx[rank]));
  CHECK(dfcclWait(ctx[rank]) == dfcclDeadlock);
  CHECK(strstr(dfcclGetLastError(), "Deadlock: ") != NULL);
}

/* The control: what NCCL does with the orders that all the other tests complete. */
static void in_order_the_wait_names_the_deadlock(void) {
  dfcclWorldConfig_t config = DFCCL_WORLD_CONFIG_INIT;
  config.ranks = 2;
  config.workers = DFCCL_NO_WORKERS;
  config.streams = 1;
  dfcclWorld_t world;
  dfcclRankCtx_t ctx[2];
  CHECK_OK(dfcclWorldCreate(&config, &world));
  for (int r = 0; r < 2; r++) {
    CHECK_OK(dfcclInitRank(world, r, &ctx[r]));
    for (int id = 1; id <= 2; id++)
      CHECK_OK(dfcclRegisterAllReduce(1, dfcclFloat32, dfcclSum, id, dfcclAllRanks(), 0, ctx[r]));
  }
  on_threads(2, rank_that_waits, ctx);
  for (int id = 1; id <= 2; id++) CHECK_OK(dfcclAbort(id, ctx[0]));
  CHECK_OK(dfcclWaitAll(ctx, 2));
  for (int r = 0; r < 2; r++) CHECK_OK(dfcclDestroy(ctx[r]));
  CHECK_OK(dfcclWorldDestroy(world));
}

static void counters_count(void) {
  dfcclWorld_t world = open_world(1, DFCCL_NO_WORKERS);
  dfcclRankCtx_t ctx;
  CHECK_OK(dfcclInitRank(world, 0, &ctx));
  CHECK_OK(dfcclRegisterAllReduce(100, dfcclFloat32, dfcclSum, 1, dfcclAllRanks(), 0, ctx));
  float x[100] = {0}, y[100];
  for (int i = 0; i < 10; i++) CHECK_OK(dfcclRun(x, y, 1, NULL, NULL, ctx));
  dfcclCounters_t c = {.structSize = sizeof c};
  CHECK_OK(dfcclGetCounters(&c, ctx));
  CHECK(c.runsInFlight == 10);
  CHECK_OK(dfcclWait(ctx));
  CHECK_OK(dfcclSynchronize(ctx));
  CHECK_OK(dfcclGetCounters(&c, ctx));
  CHECK(c.structSize == sizeof c);
  CHECK(c.runsTaken == 10 && c.runsCompleted == 10 && c.runsInFlight == 0);
  CHECK(c.launches >= 1 && c.quits == c.launches);
  CHECK(c.bytesMoved == 10 * 2 * sizeof x);
  CHECK(c.visits >= 10 && c.queueLengthMaximum >= 1 && c.collectiveBytes > 0);
  /* A caller that knows fewer counters gets those. */
  struct {
    size_t size;
    uint64_t launches, untouched;
  } old = {2 * sizeof(uint64_t), 0, 77};
  CHECK_OK(dfcclGetCounters((dfcclCounters_t*)&old, ctx));
  CHECK(old.size == 2 * sizeof(uint64_t) && old.launches == c.launches && old.untouched == 77);
  CHECK_OK(dfcclDestroy(ctx));
  CHECK_OK(dfcclWorldDestroy(world));
}

int main(void) {
  handles_are_recognised();
  a_rank_opens_again();
  the_default_world_ends_with_its_last_rank();
  abort_ends_runs_that_nobody_joins(DFCCL_NO_WORKERS);
  abort_ends_runs_that_nobody_joins(1);
  in_order_the_wait_names_the_deadlock();
  counters_count();
  return report();
}

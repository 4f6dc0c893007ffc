/* Callbacks come once for each run, with no lock held: they may run, register and poll. */
#include "c_api/check.h"

enum { kRanks = 2, kChain = 500 };

struct chain {
  dfcclRankCtx_t ctx;
  float x[8];
  atomic_int completed;
  atomic_int aborted;
};

/* In place, so each run doubles what the last one left. */
static void run_again(void* argument, dfcclResult_t status) {
  struct chain* chain = argument;
  if (status != dfcclSuccess) atomic_fetch_add(&chain->aborted, 1);
  if (atomic_fetch_add(&chain->completed, 1) + 1 >= kChain) return;
  for (int i = 0; i < 8; i++) chain->x[i] = 1;
  CHECK_OK(dfcclRunAllReduce(chain->x, chain->x, 1, run_again, chain, chain->ctx));
}

static void wait_of_chain(int rank, void* shared) {
  struct chain* chain = (struct chain*)shared + rank;
  CHECK_OK(dfcclRunAllReduce(chain->x, chain->x, 1, run_again, chain, chain->ctx));
  CHECK_OK(dfcclWait(chain->ctx));
  CHECK(atomic_load(&chain->completed) == kChain);
  CHECK(atomic_load(&chain->aborted) == 0);
  CHECK(count_equal(chain->x, 8, kRanks));
}

static void a_callback_runs_the_next(int32_t workers) {
  dfcclWorld_t world = open_world(kRanks, workers);
  struct chain chains[kRanks] = {{0}};
  for (int r = 0; r < kRanks; r++) {
    CHECK_OK(dfcclInitRank(world, r, &chains[r].ctx));
    CHECK_OK(dfcclRegisterAllReduce(8, dfcclFloat32, dfcclSum, 1, dfcclAllRanks(), 0, chains[r].ctx));
    for (int i = 0; i < 8; i++) chains[r].x[i] = 1;
  }
  on_threads(kRanks, wait_of_chain, chains);
  for (int r = 0; r < kRanks; r++) CHECK_OK(dfcclDestroy(chains[r].ctx));
  CHECK_OK(dfcclWorldDestroy(world));
}

static atomic_int finished;
static void count(void* argument, dfcclResult_t status) {
  (void)argument;
  atomic_fetch_add(&finished, status == dfcclSuccess);
}

/* Nobody waits or polls: a worker thread runs them. */
static void workers_run_callbacks(void) {
  dfcclWorld_t world = open_world(kRanks, 1);
  dfcclRankCtx_t ctx[kRanks];
  float x[kRanks] = {0};
  for (int r = 0; r < kRanks; r++) {
    CHECK_OK(dfcclInitRank(world, r, &ctx[r]));
    CHECK_OK(dfcclRegisterAllReduce(1, dfcclFloat32, dfcclSum, 1, dfcclAllRanks(), 0, ctx[r]));
  }
  atomic_store(&finished, 0);
  for (int i = 0; i < 100; i++)
    for (int r = 0; r < kRanks; r++) CHECK_OK(dfcclRun(&x[r], &x[r], 1, count, NULL, ctx[r]));
  while (atomic_load(&finished) != 100 * kRanks) {
  }
  for (int r = 0; r < kRanks; r++) {
    CHECK_OK(dfcclWait(ctx[r]));
    CHECK_OK(dfcclDestroy(ctx[r]));
  }
  CHECK_OK(dfcclWorldDestroy(world));
}

static dfcclRankCtx_t nested_ctx[kRanks];
static float nested_x[kRanks];
static atomic_int nested_done;

/* Everything that a callback may do, and what it may not. */
static void do_everything(void* argument, dfcclResult_t status) {
  const int rank = (int)(intptr_t)argument;
  dfcclRankCtx_t ctx = nested_ctx[rank];
  CHECK(status == dfcclSuccess);
  CHECK(dfcclWait(ctx) == dfcclInUse);
  CHECK(dfcclDestroy(ctx) == dfcclInUse);
  CHECK_OK(dfcclRegisterAllReduce(1, dfcclFloat32, dfcclSum, 2, dfcclAllRanks(), 0, ctx));
  CHECK_OK(dfcclPoll(NULL, ctx));
  CHECK_OK(dfcclRun(&nested_x[rank], &nested_x[rank], 2, NULL, NULL, ctx));
  CHECK_OK(dfcclSynchronize(ctx));
  atomic_fetch_add(&nested_done, 1);
}

static void a_callback_may_do_anything_but_wait(void) {
  dfcclWorld_t world = open_world(kRanks, DFCCL_NO_WORKERS);
  for (int r = 0; r < kRanks; r++) {
    CHECK_OK(dfcclInitRank(world, r, &nested_ctx[r]));
    CHECK_OK(dfcclRegisterBarrier(1, dfcclAllRanks(), 0, nested_ctx[r]));
    nested_x[r] = 1;
  }
  for (int r = 0; r < kRanks; r++) CHECK_OK(dfcclRunBarrier(1, do_everything, (void*)(intptr_t)r, nested_ctx[r]));
  CHECK_OK(dfcclWaitAll(nested_ctx, kRanks));
  CHECK(atomic_load(&nested_done) == kRanks);
  for (int r = 0; r < kRanks; r++) {
    CHECK(nested_x[r] == kRanks);
    CHECK_OK(dfcclDestroy(nested_ctx[r]));
  }
  CHECK_OK(dfcclWorldDestroy(world));
}

static void poll_delivers(void) {
  dfcclWorld_t world = open_world(1, DFCCL_NO_WORKERS);
  dfcclRankCtx_t ctx;
  float x = 3, y = 0;
  CHECK_OK(dfcclInitRank(world, 0, &ctx));
  CHECK_OK(dfcclRegisterAllReduce(1, dfcclFloat32, dfcclSum, 1, dfcclAllRanks(), 0, ctx));
  atomic_store(&finished, 0);
  CHECK_OK(dfcclRun(&x, &y, 1, count, NULL, ctx));
  int delivered = 0;
  while (delivered == 0) CHECK_OK(dfcclPoll(&delivered, ctx));
  CHECK(delivered == 1);
  CHECK(atomic_load(&finished) == 1);
  CHECK(y == 3);
  CHECK_OK(dfcclDestroy(ctx));
  CHECK_OK(dfcclWorldDestroy(world));
}

int main(void) {
  a_callback_runs_the_next(DFCCL_NO_WORKERS);
  a_callback_runs_the_next(1);
  a_callback_runs_the_next(2);
  workers_run_callbacks();
  a_callback_may_do_anything_but_wait();
  poll_delivers();
  return report();
}

/* What is outstanding has no limit but memory: with sixteen slots, two ranks submit thousands of runs in opposite
 * orders, and wait, poll or do neither. */
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "c_api/check.h"

enum { kSlots = 16, kIds = 1000, kRounds = 4, kRuns = kIds * kRounds };

static dfcclWorld_t open_small(int32_t workers, uint32_t streams) {
  dfcclWorldConfig_t config = DFCCL_WORLD_CONFIG_INIT;
  config.ranks = 2;
  config.workers = workers;
  config.submissionSlots = config.completionSlots = kSlots;
  config.collectives = kIds;
  config.streams = streams;
  config.arenaBytes = (size_t)16 << 20;
  dfcclWorld_t world = NULL;
  CHECK_OK(dfcclWorldCreate(&config, &world));
  return world;
}

static dfcclRankCtx_t enter(dfcclWorld_t world, int rank) {
  dfcclRankCtx_t ctx = NULL;
  CHECK_OK(dfcclInitRank(world, rank, &ctx));
  for (int id = 0; id < kIds; id++)
    CHECK_OK(dfcclRegisterAllReduce(1, dfcclFloat32, dfcclSum, id, dfcclAllRanks(), 0, ctx));
  return ctx;
}

static void note(void* count, dfcclResult_t status) {
  if (status == dfcclSuccess) atomic_fetch_add((atomic_int*)count, 1);
}

/* 0 ... N on rank 0, N ... 0 on rank 1, some times over. */
static void submit_all(dfcclRankCtx_t ctx, int rank, const float* in, float* out, atomic_int* count) {
  int refused = 0;
  for (int i = 0; i < kRuns; i++) {
    const int id = rank == 0 ? i % kIds : kIds - 1 - i % kIds;
    refused += dfcclRun(&in[i], &out[i], id, note, count, ctx) != dfcclSuccess;
  }
  CHECK(refused == 0);
}

static void rank_thread(int rank, void* world) {
  dfcclRankCtx_t ctx = enter(world, rank);
  float* in = malloc(kRuns * sizeof(float));
  float* out = calloc(kRuns, sizeof(float));
  for (int i = 0; i < kRuns; i++) in[i] = (float)(rank == 0 ? i % kIds : kIds - 1 - i % kIds) + (float)(i / kIds);
  for (int polls = 0; polls < 2; polls++) {
    atomic_int count = 0;
    submit_all(ctx, rank, in, out, &count);
    while (polls && atomic_load(&count) < kRuns) CHECK_OK(dfcclPoll(NULL, ctx));
    CHECK_OK(dfcclWait(ctx));
    CHECK(atomic_load(&count) == kRuns);
    int wrong = 0;
    for (int i = 0; i < kRuns; i++) wrong += out[i] != 2 * in[i];
    CHECK(wrong == 0);
  }
  CHECK_OK(dfcclDestroy(ctx));
  free(in);
  free(out);
}

/* Both ranks submit more than they have slots for before either waits: a timeout blames only who has submitted less. */
static void a_timeout_knows_what_was_submitted(void) {
  dfcclWorld_t world = open_small(DFCCL_NO_WORKERS, 0);
  dfcclRankCtx_t ctx[2] = {enter(world, 0), enter(world, 1)};
  static float a[1], b[1];
  for (int i = 0; i < 10 * kSlots; i++) CHECK_OK(dfcclRun(a, a, 0, NULL, NULL, ctx[0]));
  for (int i = 0; i < 5 * kSlots; i++) CHECK_OK(dfcclRun(b, b, 0, NULL, NULL, ctx[1]));
  CHECK(dfcclDestroy(ctx[0]) == dfcclInUse);
  CHECK(dfcclWaitFor(20000, ctx[0]) == dfcclTimeout);
  CHECK(strstr(dfcclGetLastError(), "run 80: rank 1 has not submitted it") != NULL);
  CHECK(strstr(dfcclGetLastError(), "rank 0 has not submitted it") == NULL);
  CHECK(dfcclUnregister(0, ctx[0]) == dfcclInUse);
  CHECK_OK(dfcclAbort(0, ctx[0]));
  CHECK_OK(dfcclWaitAll(ctx, 2));
  for (int r = 0; r < 2; r++) CHECK_OK(dfcclDestroy(ctx[r]));
  CHECK_OK(dfcclWorldDestroy(world));
}

static void in_order_the_queue_can_be_full(void) {
  dfcclWorld_t world = open_small(DFCCL_NO_WORKERS, 1);
  dfcclRankCtx_t ctx[2] = {enter(world, 0), enter(world, 1)};
  static float a[1], b[1];
  int queued = 0;
  dfcclResult_t result;
  while ((result = dfcclRun(a, a, 1, NULL, NULL, ctx[0])) == dfcclSuccess) queued++;
  CHECK(result == dfcclQueueFull && queued == kSlots);
  CHECK(strstr(dfcclGetLastError(), "keeps the order of submission") != NULL);
  for (int i = 0; i < queued; i++) CHECK_OK(dfcclRun(b, b, 1, NULL, NULL, ctx[1]));
  CHECK_OK(dfcclWaitAll(ctx, 2));
  for (int r = 0; r < 2; r++) CHECK_OK(dfcclDestroy(ctx[r]));
  CHECK_OK(dfcclWorldDestroy(world));
}

#ifndef DFCCL_SANITIZED
/* In a process of its own, which may have little more than it has. */
static void without_memory_a_run_is_refused(void) {
  const pid_t child = fork();
  if (child == 0) {
    dfcclWorld_t world = open_small(DFCCL_NO_WORKERS, 0);
    dfcclRankCtx_t ctx[2] = {enter(world, 0), enter(world, 1)};
    unsigned long pages = 0;
    FILE* file = fopen("/proc/self/statm", "r");
    if (file == NULL || fscanf(file, "%lu", &pages) != 1) _exit(3);
    fclose(file);
    const struct rlimit limit = {pages * 4096 + (32u << 20), RLIM_INFINITY};
    setrlimit(RLIMIT_AS, &limit);
    static float a[1], b[1];
    int taken = 0;
    dfcclResult_t result;
    while ((result = dfcclRun(a, a, 1, NULL, NULL, ctx[0])) == dfcclSuccess) taken++;
    if (result != dfcclOutOfMemory || strstr(dfcclGetLastError(), "no memory for another") == NULL) _exit(1);
    const struct rlimit none = {RLIM_INFINITY, RLIM_INFINITY};
    setrlimit(RLIMIT_AS, &none);
    for (int i = 0; i < taken; i++) {
      if (dfcclRun(b, b, 1, NULL, NULL, ctx[1]) != dfcclSuccess) _exit(4);
    }
    _exit(dfcclWaitAll(ctx, 2) == dfcclSuccess ? 0 : 2); /* those that were taken are there */
  }
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}
#endif

int main(void) {
#ifndef DFCCL_SANITIZED
  without_memory_a_run_is_refused();
#endif
  for (int32_t workers = 1; workers <= 2; workers++) {
    dfcclWorld_t world = open_small(workers, 0);
    on_threads(2, rank_thread, world);
    CHECK_OK(dfcclWorldDestroy(world));
  }
  dfcclWorld_t unaided = open_small(DFCCL_NO_WORKERS, 0);
  on_threads(2, rank_thread, unaided);
  CHECK_OK(dfcclWorldDestroy(unaided));
  a_timeout_knows_what_was_submitted();
  in_order_the_queue_can_be_full();
  return report();
}

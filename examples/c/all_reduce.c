/* Every rank adds up what all ranks have. C and C++ alike; docs/c.md shows how to build it.
 *
 *   ./all_reduce 4                          four ranks of this process, a thread each
 *   npx dfccl launch -n 4 ./all_reduce      or mpirun, srun: one rank a process */
#include <dfccl/dfccl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { kCount = 1000, kId = 7, kMostThreads = 64 };

static void check(dfcclResult_t result) {
  if (result == dfcclSuccess) return;
  fprintf(stderr, "%s: %s\n", dfcclGetErrorString(result), dfcclGetLastError());
  exit(1);
}

/* All that a rank does between its opening and its end. */
static void reduce(dfcclRankCtx_t ctx) {
  int rank, ranks, local_rank;
  void* memory;
  check(dfcclGetRank(&rank, ctx));
  check(dfcclGetRankCount(&ranks, ctx));
  check(dfcclGetLocalRank(&local_rank, ctx));
  /* Memory that the other processes can reach, where ranks are processes. */
  check(dfcclAllocate(kCount * sizeof(float), &memory, ctx));
  float* x = (float*)memory;
  for (int i = 0; i < kCount; i++) x[i] = (float)(rank + 1);

  check(dfcclRegisterAllReduce(kCount, dfcclFloat32, dfcclSum, kId, dfcclAllRanks(), 0, ctx));
  check(dfcclRunAllReduce(x, x, kId, NULL, NULL, ctx));
  check(dfcclWait(ctx));

  const float expected = (float)(ranks * (ranks + 1) / 2);
  for (int i = 0; i < kCount; i++) {
    if (x[i] == expected) continue;
    fprintf(stderr, "rank %d: element %d is %g, not %g\n", rank, i, (double)x[i], (double)expected);
    exit(1);
  }
  printf("rank %d of %d, %d on its machine: %g\n", rank, ranks, local_rank, (double)x[0]);
  check(dfcclFree(memory, kCount * sizeof(float), ctx));
}

struct rank_thread {
  pthread_t thread;
  dfcclWorld_t world;
  int rank;
};

static void* be_rank(void* argument) {
  struct rank_thread* self = (struct rank_thread*)argument;
  dfcclRankCtx_t ctx;
  check(dfcclInitRank(self->world, self->rank, &ctx));
  reduce(ctx);
  check(dfcclDestroy(ctx));
  return NULL;
}

static void with_threads(int count) {
  dfcclWorldConfig_t config = DFCCL_WORLD_CONFIG_INIT;
  struct rank_thread threads[kMostThreads];
  dfcclWorld_t world;
  config.ranks = (uint32_t)count;
  check(dfcclWorldCreate(&config, &world));
  for (int rank = 0; rank < count; rank++) {
    threads[rank].world = world;
    threads[rank].rank = rank;
    if (pthread_create(&threads[rank].thread, NULL, be_rank, &threads[rank]) != 0) exit(1);
  }
  for (int rank = 0; rank < count; rank++) pthread_join(threads[rank].thread, NULL);
  check(dfcclWorldDestroy(world));
}

/* The launcher says in the environment which rank this process is. */
static void with_processes(void) {
  dfcclWorld_t world;
  dfcclRankCtx_t ctx;
  int rank;
  check(dfcclJoinWorld(NULL, &world, &rank));
  check(dfcclInitRank(world, rank, &ctx));
  reduce(ctx);
  check(dfcclDestroy(ctx));
  check(dfcclWorldDestroy(world));
}

int main(int argc, char** argv) {
  int version;
  check(dfcclGetVersion(&version));
  if (version < DFCCL_VERSION_CODE) {
    fprintf(stderr, "built with dfccl %d, and %d is here\n", DFCCL_VERSION_CODE, version);
    return 1;
  }
  const int count = argc > 1 ? atoi(argv[1]) : 0;
  if (argc > 1 && (count < 1 || count > kMostThreads)) {
    fprintf(stderr, "usage: all_reduce [RANKS, 1 to %d]\n", kMostThreads);
    return 2;
  }
  if (count > 0) {
    with_threads(count);
  } else {
    with_processes();
  }
  return 0;
}

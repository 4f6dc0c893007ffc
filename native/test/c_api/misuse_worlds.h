/* For tests of wrong arguments: a world of threads and one of a process that joined, and a rank open in each. */
#ifndef DFCCL_TEST_MISUSE_WORLDS_H
#define DFCCL_TEST_MISUSE_WORLDS_H

#include "c_api/misuse.h"

enum { kCount = 4, kId = 1, kRanks = 2 };

static dfcclWorld_t world;
static float* send; /* 2 * kCount each, in memory of the rank's world */
static float* recv;

/* What is tested with a rank of each world, and with one of the other. */
typedef void (*misuse_t)(dfcclRankCtx_t c, dfcclRankCtx_t elsewhere);

/* With kId registered. */
static inline void of_world(misuse_t test, dfcclRankCtx_t c, dfcclRankCtx_t elsewhere) {
  void *in = NULL, *out = NULL;
  CHECK_OK(dfcclAllocate(2 * kCount * sizeof(float), &in, c));
  CHECK_OK(dfcclAllocate(2 * kCount * sizeof(float), &out, c));
  send = in;
  recv = out;
  CHECK_OK(dfcclRegisterAllReduce(kCount, dfcclFloat32, dfcclSum, kId, dfcclAllRanks(), 0, c));
  test(c, elsewhere);
  CHECK_OK(dfcclUnregister(kId, c));
  CHECK_OK(dfcclFree(in, 2 * kCount * sizeof(float), c));
  CHECK_OK(dfcclFree(out, 2 * kCount * sizeof(float), c));
}

static inline void in_both_worlds(misuse_t test) {
  without_launcher();
  setenv("DFCCL_RANKS", "2", 1); /* for the default world, which is refused ranks */
  dfcclRankCtx_t alone, joined;
  dfcclWorld_t joined_world;
  world = open_world(kRanks, 1);
  CHECK_OK(dfcclInitRank(world, 0, &alone));
  char job[64];
  snprintf(job, sizeof job, "misuse-%ld", (long)getpid());
  dfcclJoinConfig_t config = DFCCL_JOIN_CONFIG_INIT;
  config.job = job;
  config.world.ranks = 1;
  config.world.arenaBytes = 64 << 20;
  CHECK_OK(dfcclJoinWorld(&config, &joined_world, NULL));
  CHECK_OK(dfcclInitRank(joined_world, 0, &joined));
  of_world(test, alone, joined);
  of_world(test, joined, alone);
  CHECK_OK(dfcclDestroy(alone));
  CHECK_OK(dfcclDestroy(joined));
  CHECK_OK(dfcclWorldDestroy(joined_world));
  CHECK_OK(dfcclWorldDestroy(world));
}

#endif

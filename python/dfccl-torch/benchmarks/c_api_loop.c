/* The same collectives through the C API alone, in a loop without Python, beside which beside_gloo.py sets torch's. */
#include <dfccl/dfccl.h>
#include <dfccl/groups.h>
#include <stddef.h>
#include <time.h>

enum { MOST_RANKS = 64 };

static dfcclGroup_t group;

/* Returns NULL, or why the ranks haven't met. The world stays until the process ends. */
const char* c_api_join(const char* job, int rank, int ranks) {
  dfcclJoinConfig_t config = DFCCL_JOIN_CONFIG_INIT;
  dfcclWorld_t world;
  dfcclRankCtx_t ctx;
  config.world.ranks = (unsigned)ranks;
  config.job = job;
  config.rank = rank;
  if (ranks > MOST_RANKS) return "more ranks than c_api_loop.c has room for";
  if (dfcclJoinWorld(&config, &world, NULL) != dfcclSuccess) return dfcclGetLastError();
  if (dfcclInitRank(world, rank, &ctx) != dfcclSuccess) return dfcclGetLastError();
  if (dfcclGroupCreate(NULL, 0, 0, &group, ctx) != dfcclSuccess) return dfcclGetLastError();
  return NULL;
}

static dfcclResult_t issue(int kind, void* mine, void* all, void* other, size_t count, int ranks, dfcclRequest_t* run) {
  size_t counts[MOST_RANKS];
  switch (kind) {
    case 0:
      return dfcclAllReduce(mine, mine, count, dfcclFloat32, dfcclSum, group, 0, NULL, run);
    case 1:
      return dfcclAllGather(mine, all, count, dfcclFloat32, group, 0, NULL, run);
    case 2:
      return dfcclReduceScatter(all, mine, count, dfcclFloat32, dfcclSum, group, 0, NULL, run);
    case 3:
      for (int i = 0; i < ranks; ++i) counts[i] = count;
      return dfcclAllToAllV(all, counts, NULL, other, counts, NULL, dfcclFloat32, group, 0, NULL, run);
    default:
      return dfcclBroadcast(mine, mine, count, dfcclFloat32, 0, group, 0, NULL, run);
  }
}

/* kind: 0 all_reduce, 1 all_gather, 2 reduce_scatter, 3 all_to_all, 4 broadcast. count: elements of `mine`, and of each
 * rank's part of `all` and `other`. Returns the seconds that a call takes with its wait, or -1. */
double c_api_seconds(int kind, void* mine, void* all, void* other, size_t count, int ranks, int times) {
  struct timespec begin;
  struct timespec end;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  for (int i = 0; i < times; ++i) {
    dfcclRequest_t run;
    if (issue(kind, mine, all, other, count, ranks, &run) != dfcclSuccess) return -1;
    if (dfcclWaitRun(run, 0) != dfcclSuccess) return -1;
  }
  clock_gettime(CLOCK_MONOTONIC, &end);
  return ((double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec)) / times;
}

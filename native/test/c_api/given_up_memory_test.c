/* What runs with a lost rank were given comes back: as many as one likes end, and none takes more memory for good. */
#include <sys/wait.h>
#include <unistd.h>

#include "c_api/check.h"
#include "dfccl/groups.h"

enum { kCount = 100000, kRuns = 400 }; /* of 400 kB each, in an arena of 64 MB */

static void be(int rank, const char* job) {
  dfcclJoinConfig_t config = DFCCL_JOIN_CONFIG_INIT;
  dfcclWorld_t world = NULL;
  dfcclRankCtx_t ctx = NULL;
  dfcclGroup_t group = NULL;
  dfcclRequest_t request = NULL;
  config.world.ranks = 2;
  config.world.arenaBytes = (size_t)64 << 20;
  config.job = job;
  config.rank = rank;
  CHECK_OK(dfcclJoinWorld(&config, &world, NULL));
  CHECK_OK(dfcclInitRank(world, rank, &ctx));
  CHECK_OK(dfcclGroupCreate(NULL, 0, 0, &group, ctx));
  float* const mine = calloc(kCount, sizeof *mine);
  CHECK_OK(dfcclAllReduce(mine, mine, kCount, dfcclFloat32, dfcclSum, group, 0, NULL, &request));
  CHECK_OK(dfcclWaitRun(request, 0));
  if (rank == 0) _exit(0);
  int begun = 0, given_up = 0;
  for (int i = 0; i < kRuns; i++) {
    const dfcclResult_t result = dfcclAllReduce(mine, mine, kCount, dfcclFloat32, dfcclSum, group, 0, NULL, &request);
    begun += result == dfcclSuccess;
    if (result == dfcclSuccess) given_up += dfcclWaitRun(request, 0) == dfcclAborted;
  }
  CHECK(begun == kRuns && given_up == kRuns);
  /* Nor where each call is another one, of which none comes again. */
  for (int i = 0; i < kRuns; i++) {
    const uint64_t tag = (uint64_t)(1 + i);
    const dfcclResult_t result = dfcclAllReduce(mine, mine, kCount, dfcclFloat32, dfcclSum, group, tag, NULL, &request);
    begun += result == dfcclSuccess;
    if (result == dfcclSuccess) given_up += dfcclWaitRun(request, 0) == dfcclAborted;
  }
  CHECK(begun == 2 * kRuns && given_up == 2 * kRuns);
  CHECK_OK(dfcclDestroy(ctx));
  CHECK_OK(dfcclWorldDestroy(world));
  free(mine);
}

int main(void) {
  char job[64];
  pid_t pids[2];
  snprintf(job, sizeof job, "given-up-%d", (int)getpid());
  for (int rank = 0; rank < 2; rank++) {
    fflush(NULL);
    pids[rank] = fork();
    if (pids[rank] == 0) {
      alarm(120); /* none outlives a test that has failed */
      be(rank, job);
      exit(report());
    }
  }
  for (int rank = 0; rank < 2; rank++) {
    int status = -1;
    CHECK(waitpid(pids[rank], &status, 0) == pids[rank]);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  return report();
}

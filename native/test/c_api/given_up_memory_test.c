/* What runs with a lost rank were given comes back: as many as one likes end, and none takes more memory for good. */
#include "c_api/joined_ranks.h"

enum { kCount = 100000, kRuns = 400 }; /* of 400 kB each, in an arena of 64 MB */

static void be(int rank, const char* job) {
  const struct joined_rank joined = join_rank(job, rank, 2, (size_t)64 << 20);
  const dfcclGroup_t group = joined.group;
  dfcclRequest_t request = NULL;
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
  leave_world(joined);
  free(mine);
}

int main(void) {
  pass_as_processes("given-up", 2, be);
  return report();
}

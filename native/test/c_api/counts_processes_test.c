/* Runs that bring their counts, between processes: agreed on, and not. */
#include "c_api/processes.h"

enum { kMost = 50000 };

static int statuses[2];

static void note(void* into, dfcclResult_t status) { *(int*)into = (int)status; }

static void with_counts(dfcclRankCtx_t ctx, int rank, struct line line) {
  (void)line;
  float *in = NULL, *out = NULL;
  CHECK_OK(dfcclAllocate(kMost * sizeof(float), (void**)&in, ctx));
  CHECK_OK(dfcclAllocate(kMost * sizeof(float), (void**)&out, ctx));
  CHECK_OK(dfcclSetCountPerRun(1, ctx));
  CHECK_OK(dfcclRegisterAllReduce(DFCCL_ANY_COUNT, dfcclFloat32, dfcclSum, 1, dfcclAllRanks(), 0, ctx));
  CHECK_OK(dfcclSetCountPerRun(0, ctx));
  CHECK_OK(dfcclRegisterAllReduce(1, dfcclFloat32, dfcclSum, 2, dfcclAllRanks(), 0, ctx));
  for (int i = 0; i < kMost; i++) in[i] = (float)(rank + 1);
  unsigned state = 88172645u; /* the same in both */
  for (int round = 0; round < 300; round++) {
    const size_t count = next_random(&state) % (round % 3 == 0 ? kMost : 100);
    const int differ = next_random(&state) % 4 == 0;
    const size_t mine = differ && rank == 1 ? count + 1 : count;
    memset(out, 0, kMost * sizeof(float));
    statuses[0] = statuses[1] = -1;
    CHECK_OK(dfcclRunCount(in, out, mine, 1, note, &statuses[0], ctx));
    CHECK_OK(dfcclRun(in + kMost - 1, out + kMost - 1, 2, note, &statuses[1], ctx));
    CHECK_OK(dfcclWait(ctx));
    CHECK(statuses[1] == dfcclSuccess && out[kMost - 1] == 3);
    CHECK(statuses[0] == (differ ? dfcclCountMismatch : dfcclSuccess));
    const size_t written = differ ? 0 : count;
    CHECK(count_equal(out, written, 3) && count_equal(out + written, kMost - 1 - written, 0));
    if (!differ) continue;
    size_t counts[2] = {0, 0};
    int members = 0;
    CHECK_OK(dfcclGetMismatchedCounts(counts, 2, &members, 1, ctx));
    CHECK(members == 2 && counts[0] == count && counts[1] == count + 1);
  }
  /* Not the process's own memory, whatever the count. */
  static float own[1];
  CHECK(dfcclRunCount(own, own, 1, 1, NULL, NULL, ctx) == dfcclInvalidArgument);
  CHECK_OK(dfcclFree(in, kMost * sizeof(float), ctx));
  CHECK_OK(dfcclFree(out, kMost * sizeof(float), ctx));
}

int main(void) {
  struct rank_process ranks[2];
  begin_ranks(ranks, with_counts);
  end_ranks(ranks);
  return report();
}

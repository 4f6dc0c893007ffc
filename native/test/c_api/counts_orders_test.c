/* Runs that bring their counts, in an order of each rank's own, far more of them than there are slots; in some of them
 * ranks disagree, and one id is given up while its runs are under way. */
#include "c_api/check.h"

enum { kRanks = 3, kIds = 12, kRuns = 150, kMost = 9000, kAborted = kIds, kAbortedRuns = 20 };

/* The k-th run of an id: the same plan for all ranks. */
static size_t count_of(int id, int k) {
  unsigned state = 1u + (unsigned)(id * kRuns + k) * 2654435761u;
  next_random(&state);
  return next_random(&state) % (k % 5 == 0 ? kMost : 40);
}
static int differ(int id, int k) { return (id * 7 + k) % 11 == 0; }

struct run {
  int *in, *out;
  int id, k;
  dfcclResult_t status;
};

static void note(void* run, dfcclResult_t status) { ((struct run*)run)->status = status; }
static void note_abort(void* count, dfcclResult_t status) { *(int*)count += status == dfcclAborted; }

static void submit(struct run* run, int rank, dfcclRankCtx_t ctx) {
  const size_t count = count_of(run->id, run->k), length = count + 1;
  const size_t mine = differ(run->id, run->k) && rank == run->k % kRanks ? length : count;
  run->in = malloc(length * sizeof(int));
  run->out = calloc(length, sizeof(int));
  for (size_t i = 0; i < length; i++) run->in[i] = 1 + run->id + run->k;
  CHECK_OK(dfcclRunCount(run->in, run->out, mine, run->id, note, run, ctx));
}

static int ended_right(const struct run* run) {
  const size_t count = count_of(run->id, run->k);
  const int fails = differ(run->id, run->k);
  if (run->status != (fails ? dfcclCountMismatch : dfcclSuccess)) return 0;
  for (size_t i = 0; i < count; i++) {
    if (run->out[i] != (fails ? 0 : kRanks * (1 + run->id + run->k))) return 0;
  }
  return run->out[count] == 0;
}

static void rank_main(int rank, void* world) {
  static int never[kRanks][16];
  struct run* runs = calloc((size_t)kIds * kRuns, sizeof *runs);
  int order[kIds * kRuns], next[kIds] = {0}, aborted = 0, right = 0;
  unsigned random = 7u + (unsigned)rank * 7919u;
  dfcclRankCtx_t ctx = NULL;
  CHECK_OK(dfcclInitRank(world, rank, &ctx));
  CHECK_OK(dfcclSetCountPerRun(1, ctx));
  for (int id = 0; id <= kIds; id++) {
    const size_t most = id % 2 == 0 ? DFCCL_ANY_COUNT : kMost;
    CHECK_OK(dfcclRegisterAllReduce(most, dfcclInt32, dfcclSum, id, dfcclAllRanks(), id % 3, ctx));
  }
  /* Rank 0 alone comes to it, and gives it up. */
  for (int i = 0; i < kAbortedRuns && rank == 0; i++)
    CHECK_OK(dfcclRunCount(never[0], never[0], 10, kAborted, note_abort, &aborted, ctx));
  shuffle(order, kIds * kRuns, &random);
  for (int i = 0; i < kIds * kRuns; i++) {
    const int id = order[i] % kIds, k = next[id]++;
    struct run* run = &runs[id * kRuns + k];
    run->id = id;
    run->k = k;
    submit(run, rank, ctx);
    if (i % 200 == 199) CHECK_OK(dfcclSynchronize(ctx));
  }
  if (rank == 0) CHECK_OK(dfcclAbort(kAborted, ctx));
  CHECK_OK(dfcclWait(ctx));
  for (int i = 0; i < kIds * kRuns; i++) right += ended_right(&runs[i]);
  CHECK(right == kIds * kRuns);
  CHECK(aborted == (rank == 0 ? kAbortedRuns : 0));
  CHECK_OK(dfcclDestroy(ctx));
  for (int i = 0; i < kIds * kRuns; i++) {
    free(runs[i].in);
    free(runs[i].out);
  }
  free(runs);
}

int main(void) {
  for (int workers = -1; workers <= 2; workers++) {
    for (uint32_t grid = 1; grid <= 2; grid++) {
      dfcclWorldConfig_t config = DFCCL_WORLD_CONFIG_INIT;
      dfcclWorld_t world = NULL;
      config.ranks = kRanks;
      config.workers = workers;
      config.grid = grid;
      config.submissionSlots = config.completionSlots = 16;
      config.arenaBytes = (size_t)64 << 20;
      CHECK_OK(dfcclWorldCreate(&config, &world));
      on_threads(kRanks, rank_main, world);
      CHECK_OK(dfcclWorldDestroy(world));
    }
  }
  return report();
}

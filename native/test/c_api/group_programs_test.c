/* Random programs of groups and runs, the same on every rank, carried out in an order that each rank draws by itself.
 */
#include "c_api/group_steps.h"

#include <unistd.h>

#include "c_api/check.h"
#include "c_api/group_results.h"
#include "c_api/processes.h"

enum { kPrograms = 20 };

/* Groups in one order, steps in another, some of them in batches, waits in a third; each rank draws its own. */
static void carry_out(dfcclRankCtx_t ctx, int rank, int ranks, unsigned seed) {
  const struct plan plan = draw_plan(seed, ranks);
  unsigned own = seed * 97 + (unsigned)rank * 31 + 5;
  dfcclGroup_t groups[kGroups] = {NULL};
  int order[kSteps];
  shuffle(order, kGroups, &own);
  for (int i = 0; i < kGroups; i++) {
    const int g = order[i];
    if (place_in(&plan, g, rank) < 0) continue;
    CHECK_OK(dfcclGroupCreate(plan.members[g], plan.sizes[g], (uint64_t)g, &groups[g], ctx));
  }
  struct run* runs = calloc(kSteps, sizeof *runs);
  shuffle(order, kSteps, &own);
  int left = 0; /* of a batch */
  for (int i = 0; i < kSteps; i++) {
    if (left == 0 && next_random(&own) % 4 == 0) {
      left = 1 + (int)(next_random(&own) % 9);
      CHECK_OK(dfcclBatchBegin());
    }
    dfcclGroup_t group = groups[plan.steps[order[i]].group];
    if (group != NULL) submit(&plan, order[i], rank, group, ctx, &runs[order[i]]);
    if (left != 0 && --left == 0) CHECK_OK(dfcclBatchEnd(NULL));
  }
  if (left != 0) CHECK_OK(dfcclBatchEnd(NULL));
  shuffle(order, kSteps, &own);
  for (int i = 0; i < kSteps; i++) {
    struct run* run = &runs[order[i]];
    if (groups[plan.steps[order[i]].group] == NULL) continue;
    for (int part = 0; part < run->count; part++) CHECK_OK(dfcclWaitRun(run->requests[part], 0));
    if (plan.steps[order[i]].kind == counted) {
      while (run->counted->over != kCountedRuns) CHECK_OK(dfcclPoll(NULL, ctx));
      CHECK_OK(dfcclUnregister(plan.firstId + order[i], ctx));
    }
    const int right = is_right(&plan, order[i], rank, run);
    if (run->counted != NULL) CHECK_OK(dfcclFree(run->counted, sizeof *run->counted, ctx));
    if (!right) CHECK(!"a result is wrong"), fprintf(stderr, "seed %u\n", seed);
  }
  shuffle(order, kGroups, &own);
  for (int i = 0; i < kGroups; i++) CHECK_OK(dfcclGroupDestroy(groups[order[i]]));
  free(runs);
}

static void on_thread(int rank, void* world) {
  dfcclRankCtx_t ctx = NULL;
  CHECK_OK(dfcclInitRank(world, rank, &ctx));
  for (unsigned seed = 1; seed <= kPrograms; seed++) carry_out(ctx, rank, kRanks, seed);
  CHECK_OK(dfcclDestroy(ctx));
}

/* With buffers that the other process can't reach. */
static void in_process(dfcclRankCtx_t ctx, int rank, struct line line) {
  (void)line;
  for (unsigned seed = 1; seed <= kPrograms; seed++) carry_out(ctx, rank, 2, seed);
}

int main(void) {
  struct rank_process ranks[2];
  begin_ranks(ranks, in_process);
  end_ranks(ranks);
  dfcclWorld_t world = open_world(kRanks, 1);
  on_threads(kRanks, on_thread, world);
  CHECK_OK(dfcclWorldDestroy(world));
  return report();
}

/* Requests that share runs: of several ranks, some of which are destroyed before all of it is over; and of one run. */
#include "c_api/own_ranks.h"

/* Of one batch, what a rank does alone is over at once; what two others do together is over when both have come. */
static void waits_for_the_ranks_that_are_left(void) {
  struct ranks ranks = enter(64, 0);
  int x[kRanks] = {1, 2, 3}, y[kRanks] = {0, 0, 0}, is_over = 1;
  const int pair[2] = {1, 2};
  dfcclGroup_t pairs[kRanks] = {NULL};
  for (int r = 1; r < 3; r++) CHECK_OK(dfcclGroupCreate(pair, 2, 1, &pairs[r], ranks.ctx[r]));
  dfcclRequest_t both = NULL;
  CHECK_OK(dfcclBatchBegin());
  CHECK_OK(dfcclSend(&x[0], 1, dfcclInt32, 0, ranks.group[0], 0, NULL, NULL));
  CHECK_OK(dfcclRecv(&y[0], 1, dfcclInt32, 0, ranks.group[0], 0, NULL, NULL));
  CHECK_OK(dfcclAllReduce(&x[1], &y[1], 1, dfcclInt32, dfcclSum, pairs[1], 0, NULL, NULL));
  CHECK_OK(dfcclBatchEnd(&both));
  CHECK_OK(dfcclWait(ranks.ctx[0]));
  CHECK(y[0] == 1);
  CHECK_OK(dfcclDestroy(ranks.ctx[0]));
  CHECK_OK(dfcclTestRun(both, &is_over));
  CHECK(is_over == 0);
  CHECK(dfcclWaitRun(both, 20000) == dfcclTimeout);
  CHECK_OK(dfcclAllReduce(&x[2], &y[2], 1, dfcclInt32, dfcclSum, pairs[2], 0, NULL, NULL));
  CHECK_OK(dfcclWaitRun(both, 60000000));
  for (int r = 1; r < 3; r++) CHECK_OK(dfcclWait(ranks.ctx[r]));
  CHECK(y[1] == 5 && y[2] == 5);
  CHECK_OK(dfcclInitRank(ranks.world, 0, &ranks.ctx[0]));
  leave(&ranks);
}

struct within {
  dfcclRequest_t part;
  dfcclResult_t result;
};

static void wait_for_the_part(void* argument, dfcclResult_t status) {
  struct within* within = argument;
  CHECK(status == dfcclSuccess);
  within->result = dfcclWaitRun(within->part, 1000000);
}

/* The batch and its only operation are over with one run: who is told of the one finds the other over. */
static void is_over_for_all_before_any_is_told(void) {
  struct ranks ranks = enter(64, 0);
  int x[kRanks] = {1, 2, 3}, y[kRanks] = {0, 0, 0};
  dfcclRequest_t whole = NULL;
  struct within within = {NULL, dfcclTimeout};
  CHECK_OK(dfcclBatchBegin());
  CHECK_OK(dfcclAllReduce(&x[0], &y[0], 1, dfcclInt32, dfcclSum, ranks.group[0], 0, NULL, &within.part));
  CHECK_OK(dfcclBatchEnd(&whole));
  CHECK_OK(dfcclNotifyRun(whole, wait_for_the_part, &within));
  for (int r = 1; r < kRanks; r++)
    CHECK_OK(dfcclAllReduce(&x[r], &y[r], 1, dfcclInt32, dfcclSum, ranks.group[r], 0, NULL, NULL));
  CHECK_OK(dfcclWaitRun(whole, 60000000));
  CHECK(within.result == dfcclSuccess);
  for (int r = 1; r < kRanks; r++) CHECK_OK(dfcclWait(ranks.ctx[r]));
  leave(&ranks);
}

int main(void) {
  is_over_for_all_before_any_is_told();
  waits_for_the_ranks_that_are_left();
  return report();
}

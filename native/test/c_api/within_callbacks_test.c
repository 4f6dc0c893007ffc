/* Calls that are made within callbacks, and by several threads about one request; and a wait that works for others. */
#include "c_api/own_ranks.h"

struct noted {
  dfcclGroup_t group;
  int *x, *y;
  dfcclRequest_t request;
  dfcclResult_t result, split, end;
};

/* Submits a run, asks for a split, and ends a batch that it hasn't begun. */
static void submit_within(void* argument, dfcclResult_t status) {
  struct noted* noted = argument;
  CHECK(status == dfcclSuccess);
  noted->result = dfcclAllReduce(noted->x, noted->y, 1, dfcclInt32, dfcclSum, noted->group, 7, NULL, &noted->request);
  dfcclGroup_t part = NULL;
  noted->split = dfcclGroupSplit(noted->group, 0, 0, 0, &part);
  noted->end = dfcclBatchEnd(NULL);
}

/* It went into the batch that the thread had open outside, or was lost with it. */
static void a_batch_is_none_of_a_callbacks_run(void) {
  struct ranks ranks = enter(64, 0);
  int x[kRanks] = {1, 2, 3}, y[kRanks] = {0}, z[kRanks] = {0};
  dfcclRequest_t first[kRanks], outer = NULL;
  struct noted noted = {.group = ranks.group[0], .x = &x[0], .y = &z[0]};
  for (int r = 0; r < kRanks; r++)
    CHECK_OK(dfcclAllReduce(&x[r], &y[r], 1, dfcclInt32, dfcclSum, ranks.group[r], 0, NULL, &first[r]));
  CHECK_OK(dfcclNotifyRun(first[0], submit_within, &noted));
  CHECK_OK(dfcclBatchBegin());
  CHECK_OK(dfcclBarrier(ranks.group[1], 3, NULL, NULL));
  for (int r = 0; r < kRanks; r++) CHECK_OK(dfcclWaitRun(first[r], 0));
  CHECK(noted.result == dfcclSuccess && noted.request != NULL);
  CHECK(noted.split == dfcclInUse);
  CHECK(noted.end == dfcclInvalidArgument);
  CHECK_OK(dfcclBatchEnd(&outer));
  dfcclRequest_t rest[2 * kRanks] = {noted.request, outer};
  CHECK_OK(dfcclBarrier(ranks.group[0], 3, NULL, &rest[2]));
  CHECK_OK(dfcclBarrier(ranks.group[2], 3, NULL, &rest[3]));
  for (int r = 1; r < kRanks; r++)
    CHECK_OK(dfcclAllReduce(&x[r], &z[r], 1, dfcclInt32, dfcclSum, ranks.group[r], 7, NULL, &rest[3 + r]));
  CHECK_OK(dfcclWaitRuns(rest, 2 * kRanks, 0));
  CHECK(z[0] == 6 && z[2] == 6);
  leave(&ranks);
}

static void begin_and_forget(void* argument, dfcclResult_t status) {
  (void)status;
  *(int*)argument = dfcclBatchBegin() == dfcclSuccess;
}

/* One that a callback leaves open is no later call's. */
static void a_forgotten_batch_is_nobodys(void) {
  struct ranks ranks = enter(64, 0);
  int has_begun = 0;
  dfcclRequest_t all[kRanks];
  for (int round = 0; round < 2; round++) {
    for (int r = 0; r < kRanks; r++) CHECK_OK(dfcclBarrier(ranks.group[r], 0, NULL, &all[r]));
    if (round == 0) CHECK_OK(dfcclNotifyRun(all[1], begin_and_forget, &has_begun));
    CHECK_OK(dfcclWaitRuns(all, kRanks, 0));
  }
  CHECK(has_begun);
  CHECK(dfcclBatchEnd(NULL) == dfcclInvalidArgument);
  leave(&ranks);
}

/* What one rank was refused counted, and its later splits met nobody's. */
struct splitting {
  struct ranks ranks;
  atomic_int refused;
};

static void split_in_callback(void* argument, dfcclResult_t status) {
  struct splitting* all = argument;
  dfcclGroup_t part = NULL;
  CHECK(status == dfcclSuccess);
  if (dfcclGroupSplit(all->ranks.group[0], 0, 0, 0, &part) == dfcclInUse) atomic_fetch_add(&all->refused, 1);
}

static void split_once(int rank, void* argument) {
  struct splitting* all = argument;
  dfcclGroup_t part = NULL;
  int size = 0;
  CHECK_OK(dfcclGroupSplit(all->ranks.group[rank], 0, -rank, 0, &part));
  CHECK_OK(dfcclGroupGetRankCount(&size, part));
  CHECK(size == kRanks);
  CHECK_OK(dfcclGroupDestroy(part));
}

static void a_refused_split_counts_for_nothing(void) {
  struct splitting all = {.ranks = enter(64, 0)};
  dfcclRequest_t barriers[kRanks];
  for (int r = 0; r < kRanks; r++) CHECK_OK(dfcclBarrier(all.ranks.group[r], 0, NULL, &barriers[r]));
  CHECK_OK(dfcclNotifyRun(barriers[0], split_in_callback, &all));
  CHECK_OK(dfcclWaitRuns(barriers, kRanks, 0));
  CHECK(atomic_load(&all.refused) == 1);
  on_threads(kRanks, split_once, &all);
  leave(&all.ranks);
}

/* What nobody comes to is given up before the call returns. */
static void a_split_in_vain_leaves_nothing(void) {
  struct ranks ranks = enter(64, 0);
  dfcclGroup_t part = NULL;
  CHECK(dfcclGroupSplit(ranks.group[0], 0, 0, 1000, &part) == dfcclTimeout);
  CHECK(part == NULL);
  CHECK_OK(dfcclGroupDestroy(ranks.group[0]));
  leave(&ranks);
}

static void take_a_barrier(void* argument, dfcclResult_t status) {
  struct noted* noted = argument;
  noted->result = status;
  noted->end = dfcclBarrier(noted->group, 9, NULL, &noted->request);
}

/* The callback of a half that fits was called with the rank's lock held, when another half was refused. */
static void a_half_that_is_refused_leaves_the_other(void) {
  struct ranks ranks = enter(64, 0);
  int x[3] = {1, 2, 3}, y[2] = {0, 0};
  dfcclRequest_t sent = NULL, received = NULL, barriers[kRanks];
  struct noted noted = {.group = ranks.group[0]};
  CHECK_OK(dfcclSend(x, 2, dfcclInt32, 0, ranks.group[0], 0, NULL, &sent));
  CHECK_OK(dfcclNotifyRun(sent, take_a_barrier, &noted));
  CHECK(dfcclRecv(x + 1, 2, dfcclInt32, 0, ranks.group[0], 0, NULL, &received) == dfcclInvalidArgument);
  CHECK(received == NULL);
  CHECK_OK(dfcclRecv(y, 2, dfcclInt32, 0, ranks.group[0], 0, NULL, &received));
  CHECK_OK(dfcclWaitRun(received, 0));
  CHECK_OK(dfcclWaitRun(sent, 0));
  CHECK(y[0] == 1 && y[1] == 2);
  CHECK(noted.result == dfcclSuccess && noted.end == dfcclSuccess);
  barriers[0] = noted.request;
  for (int r = 1; r < kRanks; r++) CHECK_OK(dfcclBarrier(ranks.group[r], 9, NULL, &barriers[r]));
  CHECK_OK(dfcclWaitRuns(barriers, kRanks, 0));
  leave(&ranks);
}

struct contended {
  dfcclRequest_t request;
  atomic_int notified, called, waited, closed;
};

static void count_call(void* argument, dfcclResult_t status) {
  CHECK(status == dfcclSuccess);
  atomic_fetch_add(&((struct contended*)argument)->called, 1);
}

static void notify_and_wait(int rank, void* argument) {
  (void)rank;
  struct contended* one = argument;
  const dfcclResult_t notified = dfcclNotifyRun(one->request, count_call, one);
  if (notified == dfcclSuccess) atomic_fetch_add(&one->notified, 1);
  const dfcclResult_t waited = dfcclWaitRun(one->request, 0);
  if (waited == dfcclSuccess) atomic_fetch_add(&one->waited, 1);
  if (waited == dfcclClosed) atomic_fetch_add(&one->closed, 1);
}

/* One of several threads gives a request its callback, and one gets its end. */
static void threads_share_a_request(void) {
  struct ranks ranks = enter(64, 0);
  enum { kRounds = 300, kThreads = 4 };
  for (int round = 0; round < kRounds; round++) {
    struct contended one = {0};
    dfcclRequest_t others[kRanks - 1];
    CHECK_OK(dfcclBarrier(ranks.group[0], 0, NULL, &one.request));
    for (int r = 1; r < kRanks; r++) CHECK_OK(dfcclBarrier(ranks.group[r], 0, NULL, &others[r - 1]));
    on_threads(kThreads, notify_and_wait, &one);
    CHECK(atomic_load(&one.notified) <= 1 && atomic_load(&one.called) == atomic_load(&one.notified));
    CHECK(atomic_load(&one.waited) == 1 && atomic_load(&one.closed) == kThreads - 1);
    CHECK_OK(dfcclWaitRuns(others, kRanks - 1, 0));
  }
  leave(&ranks);
}

/* As long as anything moved, the limit was not looked at. */
static void a_wait_ends_though_others_go_on(void) {
  struct ranks ranks = enter(64, 0);
  enum { kRuns = 20000 };
  static int x = 1, y[2][kRuns];
  static dfcclRequest_t requests[2 * kRuns];
  dfcclGroup_t pair[2];
  const int members[2] = {1, 2};
  int z = 0;
  dfcclRequest_t alone = NULL;
  for (int r = 0; r < 2; r++) CHECK_OK(dfcclGroupCreate(members, 2, 0, &pair[r], ranks.ctx[r + 1]));
  for (int i = 0; i < kRuns; i++) {
    for (int r = 0; r < 2; r++)
      CHECK_OK(dfcclAllReduce(&x, &y[r][i], 1, dfcclInt32, dfcclSum, pair[r], 0, NULL, &requests[2 * i + r]));
  }
  CHECK_OK(dfcclAllReduce(&x, &z, 1, dfcclInt32, dfcclSum, ranks.group[0], 0, NULL, &alone));
  CHECK(dfcclWaitRun(alone, 1) == dfcclTimeout);
  CHECK(y[0][kRuns - 1] == 0);
  CHECK_OK(dfcclWaitRuns(requests, 2 * kRuns, 0));
  CHECK(y[1][kRuns - 1] == 2);
  CHECK_OK(dfcclGroupAbort(ranks.group[0]));
  CHECK(dfcclWaitRun(alone, 0) == dfcclAborted);
  leave(&ranks);
}

int main(void) {
  a_wait_ends_though_others_go_on();
  a_batch_is_none_of_a_callbacks_run();
  a_forgotten_batch_is_nobodys();
  a_refused_split_counts_for_nothing();
  a_split_in_vain_leaves_nothing();
  a_half_that_is_refused_leaves_the_other();
  threads_share_a_request();
  return report();
}

/* Requests waited for together: all of a list, or whichever is over first. */
#include "c_api/own_ranks.h"

enum { kSlots = 16, kMany = 5 * kSlots };

/* Every request was given back, so that nothing is in flight. */
static void leave_groups(struct ranks* all) {
  for (int r = 0; r < kRanks; r++) CHECK_OK(dfcclGroupDestroy(all->group[r]));
  leave(all);
}

static dfcclRequest_t sum(struct ranks* all, int rank, int* x, uint64_t tag) {
  dfcclRequest_t request = NULL;
  CHECK_OK(dfcclAllReduce(x, x, 1, dfcclInt32, dfcclSum, all->group[rank], tag, NULL, &request));
  return request;
}

static void sum_on_all(struct ranks* all, int x[kRanks], uint64_t tag, dfcclRequest_t requests[kRanks]) {
  for (int r = 0; r < kRanks; r++) requests[r] = sum(all, r, &x[r], tag);
}

static int is_back(dfcclRequest_t request) {
  int is_over;
  return dfcclTestRun(request, &is_over) == dfcclClosed;
}

static void of_none_there_is_nothing_to_wait_for(void) {
  struct ranks all = enter(256, kSlots);
  const dfcclRequest_t nothing[] = {NULL, NULL};
  int x[kRanks] = {1, 2, 3}, index = 7;
  CHECK_OK(dfcclWaitRuns(NULL, 0, 0));
  CHECK_OK(dfcclWaitAnyRun(NULL, 0, 0, &index));
  CHECK(index == -1);
  index = 7;
  CHECK_OK(dfcclWaitAnyRun(nothing, 2, 0, &index));
  CHECK(index == -1);
  /* Waiting for all is for no list with holes: refused before anything is waited for. */
  dfcclRequest_t own[kRanks];
  sum_on_all(&all, x, 1, own);
  const dfcclRequest_t holed[] = {own[0], NULL, own[1]};
  CHECK(dfcclWaitRuns(holed, 3, 0) == dfcclInvalidArgument);
  CHECK(dfcclWaitRuns(own, -1, 0) == dfcclInvalidArgument);
  CHECK_OK(dfcclWaitRuns(own, kRanks, 0));
  CHECK(x[0] == 6 && x[1] == 6 && x[2] == 6);
  leave_groups(&all);
}

static void those_that_ended_before_are_given_back_as_well(void) {
  struct ranks all = enter(256, kSlots);
  int x[kRanks] = {1, 2, 3}, y[kRanks] = {4, 5, 6}, index = -1;
  dfcclRequest_t first[kRanks], second[kRanks];
  sum_on_all(&all, x, 1, first);
  CHECK_OK(dfcclWaitAll(all.ctx, kRanks));
  sum_on_all(&all, y, 2, second);
  const dfcclRequest_t list[] = {second[0], first[0], first[1]};
  CHECK_OK(dfcclWaitAnyRun(list, 3, 0, &index));
  CHECK(index == 1 && is_back(first[0]) && !is_back(first[1]));
  const dfcclRequest_t mixed[] = {first[1], second[0], first[2], second[1], second[2]};
  CHECK_OK(dfcclWaitRuns(mixed, 5, 0));
  for (int i = 0; i < 5; i++) CHECK(is_back(mixed[i]));
  CHECK(y[0] == 15 && y[1] == 15 && y[2] == 15);
  leave_groups(&all);
}

/* Each of those that end together is told of once. */
static void several_that_end_at_once_are_found_one_by_one(void) {
  struct ranks all = enter(256, kSlots);
  int x[kRanks] = {1, 2, 3}, found[kRanks] = {0};
  dfcclRequest_t own[kRanks];
  sum_on_all(&all, x, 1, own);
  CHECK_OK(dfcclWaitAll(all.ctx, kRanks));
  for (int i = 0; i < kRanks; i++) {
    int index = -1;
    CHECK_OK(dfcclWaitAnyRun(own, kRanks, 0, &index));
    CHECK(index >= 0 && index < kRanks && found[index]++ == 0 && is_back(own[index]));
    if (index >= 0) own[index] = NULL;
  }
  leave_groups(&all);
}

static void a_timeout_leaves_all_as_they_were(void) {
  struct ranks all = enter(256, kSlots);
  int x[kRanks] = {1, 2, 3}, y[kRanks] = {4, 5, 6}, index = 7, is_over = -1;
  dfcclRequest_t done[kRanks], late[kRanks];
  sum_on_all(&all, x, 1, done);
  for (int r = 0; r < 2; r++) late[r] = sum(&all, r, &y[r], 2);
  const dfcclRequest_t list[] = {late[1], done[0], done[1], late[0], done[2]};
  CHECK(dfcclWaitRuns(list, 5, 2000) == dfcclTimeout);
  CHECK(strstr(dfcclGetLastError(), "rank 2 has not submitted it") != NULL);
  for (int i = 0; i < 5; i++) CHECK(!is_back(list[i]));
  CHECK(dfcclWaitAnyRun(late, 2, 2000, &index) == dfcclTimeout);
  CHECK(index == -1);
  CHECK_OK(dfcclTestRun(late[0], &is_over));
  CHECK(is_over == 0);
  late[2] = sum(&all, 2, &y[2], 2);
  CHECK_OK(dfcclWaitRuns(list, 5, 0));
  CHECK_OK(dfcclWaitRuns(&late[2], 1, 0));
  CHECK(x[0] == 6 && y[0] == 15 && y[1] == 15 && y[2] == 15);
  leave_groups(&all);
}

static void one_that_was_given_up_takes_no_other_with_it(void) {
  struct ranks all = enter(256, kSlots);
  dfcclGroup_t lost[kRanks];
  dfcclRequest_t own[kRanks];
  int x[kRanks] = {1, 2, 3}, y = 1, index = -1, is_over = -1;
  for (int r = 0; r < kRanks; r++) CHECK_OK(dfcclGroupCreate(NULL, 0, 1, &lost[r], all.ctx[r]));
  dfcclRequest_t given_up[2];
  for (int i = 0; i < 2; i++)
    CHECK_OK(dfcclAllReduce(&y, &y, 1, dfcclInt32, dfcclSum, lost[0], (uint64_t)i, NULL, &given_up[i]));
  CHECK_OK(dfcclGroupAbort(lost[0]));
  sum_on_all(&all, x, 1, own);
  const dfcclRequest_t list[] = {own[0], given_up[0], own[1], own[2]};
  CHECK(dfcclWaitRuns(list, 4, 0) == dfcclAborted);
  for (int i = 0; i < 4; i++) CHECK(is_back(list[i]));
  CHECK(x[0] == 6 && x[1] == 6 && x[2] == 6);
  /* A question doesn't give it back, whichever its end. */
  while (dfcclTestRun(given_up[1], &is_over) == dfcclSuccess) CHECK(is_over == 0);
  CHECK(is_over == 1 && !is_back(given_up[1]));
  CHECK(dfcclWaitAnyRun(&given_up[1], 1, 0, &index) == dfcclAborted);
  CHECK(index == 0 && is_back(given_up[1]) && y == 1);
  for (int r = 0; r < kRanks; r++) CHECK_OK(dfcclGroupDestroy(lost[r]));
  leave_groups(&all);
}

/* One that is listed twice is given back once, and the others with it. */
static void duplicates_keep_nothing_back(void) {
  struct ranks all = enter(256, kSlots);
  int x[kRanks] = {1, 2, 3}, index = -1;
  dfcclRequest_t own[kRanks];
  sum_on_all(&all, x, 1, own);
  const dfcclRequest_t list[] = {own[0], own[1], own[0], own[2]};
  CHECK(dfcclWaitRuns(list, 4, 0) == dfcclClosed);
  for (int r = 0; r < kRanks; r++) CHECK(is_back(own[r]));
  CHECK(x[0] == 6 && x[1] == 6 && x[2] == 6);
  sum_on_all(&all, x, 2, own);
  const dfcclRequest_t twice[] = {own[1], own[1]};
  CHECK_OK(dfcclWaitAnyRun(twice, 2, 0, &index));
  CHECK(index == 0 && is_back(own[1]));
  CHECK(dfcclWaitAnyRun(twice, 2, 0, &index) == dfcclClosed);
  CHECK(index == -1 && !is_back(own[0]));
  const dfcclRequest_t rest[] = {own[0], own[2]};
  CHECK_OK(dfcclWaitRuns(rest, 2, 0));
  CHECK(x[0] == 18 && x[1] == 18 && x[2] == 18);
  leave_groups(&all);
}

/* More than the slots hold, in opposite orders, and the list begins with one rank's. */
static void of_several_ranks_all_go_on(void) {
  struct ranks all = enter(256, kSlots);
  static int x[kRanks][kMany];
  static dfcclRequest_t own[kRanks * kMany];
  int wrong = 0;
  for (int r = 0; r < kRanks; r++) {
    for (int i = 0; i < kMany; i++) {
      const int tag = r == 1 ? kMany - 1 - i : i;
      x[r][tag] = tag + r;
      own[r * kMany + i] = sum(&all, r, &x[r][tag], (uint64_t)tag);
    }
  }
  CHECK_OK(dfcclWaitRuns(own, kRanks * kMany, 0));
  for (int i = 0; i < kRanks * kMany; i++) wrong += x[i / kMany][i % kMany] != 3 * (i % kMany) + 3;
  CHECK(wrong == 0);
  leave_groups(&all);
}

/* What is sent is over when it is received; the rank that receives looks for it only while somebody waits for that. */
static void a_list_looks_for_senders_on_all_its_ranks(void) {
  struct ranks all = enter(256, kSlots);
  int x = 5, y = 0, source = -1;
  dfcclRequest_t own[2];
  CHECK_OK(dfcclRecvAny(&y, 1, dfcclInt32, &source, all.group[1], 3, &own[1]));
  CHECK_OK(dfcclSend(&x, 1, dfcclInt32, 1, all.group[0], 3, NULL, &own[0]));
  /* Far longer than it takes; without a limit it would never end. */
  CHECK_OK(dfcclWaitRuns(own, 2, 20 * 1000 * 1000));
  CHECK(y == 5 && source == 0);
  leave_groups(&all);
}

/* One thread waits for what one rank sends, and it is up to another rank, which has yet to learn who sends to it. */
static void one_that_is_up_to_another_receive(void) {
  struct ranks ranks = enter(0, 0);
  dfcclRequest_t sent = NULL;
  int x = 7, y = 0, source = 0;
  for (int round = 0; round < 2; round++) {
    CHECK_OK(dfcclRecvAny(&y, 1, dfcclInt32, &source, ranks.group[1], 0, NULL));
    CHECK_OK(dfcclSend(&x, 1, dfcclInt32, 1, ranks.group[0], 0, NULL, &sent));
    if (round == 0) {
      CHECK_OK(dfcclWaitRun(sent, 20000000));
    } else {
      for (int is_over = 0; !is_over;) CHECK_OK(dfcclTestRun(sent, &is_over));
      CHECK_OK(dfcclFreeRequest(sent));
    }
    CHECK_OK(dfcclWaitAll(ranks.ctx, kRanks));
    CHECK(y == 7 && source == 0);
    y = 0;
  }
  leave(&ranks);
}

static void note_end(void* is_over, dfcclResult_t status) {
  atomic_store((atomic_int*)is_over, status == dfcclSuccess);
}

/* A thread of the world's ends runs whenever it likes, also between two looks of whoever waits for them: each round
   waits a little later or earlier than the one before, whichever is nearer to the end. */
static void one_that_ends_while_it_is_looked_at(void) {
  enum { kRounds = 200 * 1000, kStep = 4, kLongest = 100 * 1000 };
  dfcclWorld_t world = open_world(2, 1);
  dfcclRankCtx_t ctx[2];
  dfcclGroup_t group[2];
  for (int r = 0; r < 2; r++) {
    CHECK_OK(dfcclInitRank(world, r, &ctx[r]));
    CHECK_OK(dfcclGroupCreate(NULL, 0, 0, &group[r], ctx[r]));
  }
  volatile unsigned spins = 0;
  unsigned delay = 0;
  int wrong = 0;
  for (int i = 0; i < kRounds; i++) {
    int x[] = {i, 1};
    dfcclRequest_t own[2] = {NULL, NULL};
    atomic_int is_over = 0;
    for (int r = 0; r < 2; r++)
      wrong += dfcclAllReduce(&x[r], &x[r], 1, dfcclInt32, dfcclSum, group[r], 0, NULL, &own[r]) != dfcclSuccess;
    wrong += dfcclNotifyRun(own[0], note_end, &is_over) != dfcclSuccess;
    for (unsigned left = delay; left != 0; left--) spins++;
    const int came_late = atomic_load_explicit(&is_over, memory_order_relaxed);
    wrong += dfcclWaitRuns(own, 1, 0) != dfcclSuccess || !atomic_load(&is_over) || x[0] != i + 1;
    wrong += dfcclWaitRuns(&own[1], 1, 0) != dfcclSuccess || x[1] != i + 1;
    delay = came_late ? (delay < kStep ? 0 : delay - kStep) : delay > kLongest ? 0 : delay + kStep;
  }
  CHECK(wrong == 0);
  for (int r = 0; r < 2; r++) CHECK_OK(dfcclDestroy(ctx[r]));
  CHECK_OK(dfcclWorldDestroy(world));
}

int main(void) {
  one_that_ends_while_it_is_looked_at();
  one_that_is_up_to_another_receive();
  of_none_there_is_nothing_to_wait_for();
  those_that_ended_before_are_given_back_as_well();
  several_that_end_at_once_are_found_one_by_one();
  a_timeout_leaves_all_as_they_were();
  one_that_was_given_up_takes_no_other_with_it();
  duplicates_keep_nothing_back();
  of_several_ranks_all_go_on();
  a_list_looks_for_senders_on_all_its_ranks();
  return report();
}

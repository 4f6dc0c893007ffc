/* Batches: kept until their end, submitted all or not at all, waited for as one. */
#include "c_api/own_ranks.h"

static uint64_t in_flight(dfcclRankCtx_t ctx) {
  dfcclCounters_t counters = {.structSize = sizeof counters};
  CHECK_OK(dfcclGetCounters(&counters, ctx));
  return counters.runsInFlight;
}

/* Every kind of operation, on two groups of each rank, ranks in an order of their own, in one batch of all ranks or of
 * each. */
static void every_kind(int is_of_all_ranks) {
  struct ranks ranks = enter(256, 0);
  dfcclGroup_t other[kRanks];
  dfcclRequest_t whole[kRanks] = {NULL}, own[kRanks][2];
  int x[kRanks], sum[kRanks], from_left[kRanks], from_self[kRanks], all[kRanks][kRanks], parts[kRanks][2 * kRanks];
  for (int r = 0; r < kRanks; r++) {
    CHECK_OK(dfcclGroupCreate(NULL, 0, 1, &other[r], ranks.ctx[r]));
    x[r] = 10 + r;
  }
  if (is_of_all_ranks) CHECK_OK(dfcclBatchBegin());
  for (int r = 0; r < kRanks; r++) {
    const int left = (r + kRanks - 1) % kRanks, right = (r + 1) % kRanks;
    const dfcclGroup_t group = ranks.group[r];
    const size_t ones[kRanks] = {1, 1, 1}, apart[kRanks] = {0, 2, 4};
    if (!is_of_all_ranks) CHECK_OK(dfcclBatchBegin());
    CHECK_OK(dfcclSend(&x[r], 1, dfcclInt32, right, group, 0, NULL, NULL));
    if (r == 1) CHECK_OK(dfcclAllGather(&x[r], all[r], 1, dfcclInt32, other[r], 0, NULL, NULL));
    CHECK_OK(dfcclSend(&x[r], 1, dfcclInt32, r, group, 0, NULL, &own[r][0]));
    CHECK_OK(dfcclAllReduce(&x[r], &sum[r], 1, dfcclInt32, dfcclSum, group, 0, NULL, &own[r][1]));
    CHECK_OK(dfcclAllGatherV(&x[r], parts[r], ones, apart, dfcclInt32, group, 0, NULL, NULL));
    if (r != 1) CHECK_OK(dfcclAllGather(&x[r], all[r], 1, dfcclInt32, other[r], 0, NULL, NULL));
    CHECK_OK(dfcclRecv(&from_left[r], 1, dfcclInt32, left, group, 0, NULL, NULL));
    CHECK_OK(dfcclRecv(&from_self[r], 1, dfcclInt32, r, group, 0, NULL, NULL));
    CHECK(own[r][0] == NULL && own[r][1] == NULL && in_flight(ranks.ctx[r]) == 0);
    if (!is_of_all_ranks) CHECK_OK(dfcclBatchEnd(&whole[r]));
  }
  if (is_of_all_ranks) CHECK_OK(dfcclBatchEnd(&whole[0]));
  for (int r = 0; r < kRanks; r++) CHECK_OK(dfcclWaitRuns(own[r], 2, 0));
  CHECK_OK(dfcclWaitRuns(whole, is_of_all_ranks ? 1 : kRanks, 0));
  int wrong = 0;
  for (int r = 0; r < kRanks; r++) {
    wrong += sum[r] != 33 || from_left[r] != 10 + (r + kRanks - 1) % kRanks || from_self[r] != 10 + r;
    for (int m = 0; m < kRanks; m++) wrong += all[r][m] != 10 + m || parts[r][2 * m] != 10 + m;
    CHECK(in_flight(ranks.ctx[r]) == 0);
  }
  CHECK(wrong == 0);
  leave(&ranks);
}

static void note(void* status, dfcclResult_t result) { *(int*)status = (int)result; }

/* Nothing of a batch begins before its end, and an inner one doesn't wait for the outer. */
static void kept_until_the_end(void) {
  struct ranks ranks = enter(64, 0);
  int x[2] = {1, 2}, y[2] = {0, 0}, z = 0, is_over = 1, ended = -1;
  dfcclRequest_t early = NULL, whole = NULL, inner = NULL;
  CHECK_OK(dfcclRecv(&y[1], 1, dfcclInt32, 0, ranks.group[1], 0, NULL, &early));
  CHECK_OK(dfcclBatchBegin());
  CHECK_OK(dfcclSend(&x[0], 1, dfcclInt32, 1, ranks.group[0], 0, NULL, NULL));
  for (int i = 0; i < 100; i++) CHECK_OK(dfcclPoll(NULL, ranks.ctx[1]));
  CHECK_OK(dfcclTestRun(early, &is_over));
  CHECK(!is_over);
  CHECK_OK(dfcclBatchBegin());
  CHECK_OK(dfcclSend(&x[1], 1, dfcclInt32, 1, ranks.group[1], 0, NULL, NULL));
  CHECK_OK(dfcclRecv(&z, 1, dfcclInt32, 1, ranks.group[1], 0, NULL, NULL));
  CHECK_OK(dfcclBatchEnd(&inner));
  CHECK_OK(dfcclWaitRun(inner, 0));
  CHECK(z == 2);
  CHECK_OK(dfcclBatchEnd(&whole));
  CHECK_OK(dfcclNotifyRun(whole, note, &ended));
  CHECK_OK(dfcclWaitRun(early, 0));
  CHECK(y[1] == 1);
  CHECK_OK(dfcclWaitRun(whole, 0));
  CHECK(ended == dfcclSuccess);
  /* One that is given up has had no effect; and one of nothing is over at once. */
  CHECK_OK(dfcclBatchBegin());
  CHECK_OK(dfcclBarrier(ranks.group[0], 0, NULL, &early));
  CHECK_OK(dfcclBatchCancel());
  CHECK(early == NULL && in_flight(ranks.ctx[0]) == 0);
  CHECK_OK(dfcclBatchBegin());
  CHECK_OK(dfcclAllToAllV(x, (const size_t[kRanks]){0}, NULL, y, (const size_t[kRanks]){0}, NULL, dfcclInt32,
                          ranks.group[0], 0, NULL, &early));
  CHECK_OK(dfcclBatchEnd(&whole));
  CHECK_OK(dfcclTestRun(whole, &is_over));
  CHECK(is_over);
  CHECK_OK(dfcclWaitRun(whole, 0));
  CHECK_OK(dfcclWaitRun(early, 0));
  leave(&ranks);
}

/* What makes one operation impossible makes all of them so, and nothing has been submitted. */
static void all_or_nothing(void) {
  struct ranks ranks = enter(8, 0);
  const dfcclGroup_t group = ranks.group[0];
  dfcclGroup_t gone = NULL;
  int x[4] = {1, 2, 3, 4}, y[4];
  dfcclRequest_t whole = NULL, own = NULL;
  for (int what = 0; what < 5; what++) {
    CHECK_OK(dfcclGroupCreate(NULL, 0, 9, &gone, ranks.ctx[0]));
    CHECK_OK(dfcclBatchBegin());
    CHECK_OK(dfcclSend(x, 1, dfcclInt32, 1, group, 0, NULL, &own));
    CHECK_OK(dfcclRecv(y, 1, dfcclInt32, 0, group, 0, NULL, NULL)); /* of a message to itself */
    dfcclResult_t expected = dfcclInvalidArgument;
    if (what == 0) CHECK_OK(dfcclAllReduce(x, x + 1, 2, dfcclInt32, dfcclSum, group, 0, NULL, NULL));
    if (what == 1) CHECK_OK(dfcclRecv(NULL, 1, dfcclInt32, 0, group, 0, NULL, NULL));
    if (what == 2) expected = dfcclClosed;
    if (what == 3) expected = dfcclAborted;
    if (what == 2 || what == 3) CHECK_OK(dfcclBarrier(gone, 0, NULL, NULL));
    if (what == 3) CHECK_OK(dfcclGroupAbort(gone));
    if (what != 4) CHECK_OK(dfcclGroupDestroy(what == 2 ? gone : NULL));
    if (what == 4) expected = dfcclOutOfMemory;
    for (int i = 0; what == 4 && i < 8; i++) CHECK_OK(dfcclBarrier(group, (uint64_t)i, NULL, NULL));
    CHECK(dfcclBatchEnd(&whole) == expected);
    CHECK(whole == NULL && own == NULL && in_flight(ranks.ctx[0]) == 0);
    if (what != 2) CHECK_OK(dfcclGroupDestroy(gone));
  }
  /* The groups are as they were: nothing had been submitted. */
  int sent = 0;
  CHECK_OK(dfcclBatchBegin());
  CHECK_OK(dfcclSend(&x[3], 1, dfcclInt32, 1, group, 0, NULL, NULL));
  CHECK_OK(dfcclRecv(&sent, 1, dfcclInt32, 0, ranks.group[1], 0, NULL, NULL));
  CHECK_OK(dfcclBatchEnd(&whole));
  CHECK_OK(dfcclWaitRun(whole, 0));
  CHECK(sent == 4);
  /* Nor does anything keep its place in the tables, which have 8. */
  for (uint64_t tag = 20; tag < 40; tag++) {
    CHECK_OK(dfcclSend(&x[3], 1, dfcclInt32, 0, group, tag, NULL, NULL));
    CHECK_OK(dfcclRecv(&sent, 1, dfcclInt32, 0, group, tag, NULL, &own));
    CHECK_OK(dfcclWaitRun(own, 0));
  }
  leave(&ranks);
}

/* A batch of which a part is given up. */
static void a_part_is_aborted(void) {
  struct ranks ranks = enter(64, 0);
  dfcclGroup_t other = NULL;
  int x = 1, y = 0;
  dfcclRequest_t whole = NULL, message = NULL;
  CHECK_OK(dfcclGroupCreate(NULL, 0, 1, &other, ranks.ctx[0]));
  CHECK_OK(dfcclBatchBegin());
  CHECK_OK(dfcclSend(&x, 1, dfcclInt32, 0, ranks.group[0], 0, NULL, NULL));
  CHECK_OK(dfcclRecv(&y, 1, dfcclInt32, 0, ranks.group[0], 0, NULL, &message));
  CHECK_OK(dfcclBarrier(other, 0, NULL, NULL));
  CHECK_OK(dfcclBatchEnd(&whole));
  CHECK_OK(dfcclWaitRun(message, 0));
  CHECK(dfcclWaitRun(whole, 1000) == dfcclTimeout);
  CHECK(strstr(dfcclGetLastError(), "rank 1 has not submitted it") != NULL);
  CHECK_OK(dfcclGroupAbort(other));
  CHECK(dfcclWaitRun(whole, 0) == dfcclAborted && y == 1);
  leave(&ranks);
}

enum { kThreads = 4, kMessages = 50, kBatches = 40 };

struct sender {
  pthread_t thread;
  pthread_barrier_t* all;
  dfcclGroup_t group;
  int values[kMessages], failures;
};

static void* send_batches(void* argument) {
  struct sender* sender = argument;
  for (int b = 0; b < kBatches; b++) {
    dfcclRequest_t whole = NULL;
    sender->failures += dfcclBatchBegin() != dfcclSuccess;
    for (int i = 0; i < kMessages; i++)
      sender->failures += dfcclSend(&sender->values[i], 1, dfcclInt32, 1, sender->group, 0, NULL, NULL) != dfcclSuccess;
    pthread_barrier_wait(sender->all); /* so that all submit theirs at the same time */
    sender->failures += dfcclBatchEnd(&whole) != dfcclSuccess;
    sender->failures += dfcclWaitRun(whole, 0) != dfcclSuccess;
  }
  return NULL;
}

/* Several threads of a rank send equal messages: those of a batch stay together. */
static void of_several_threads(void) {
  enum { kAll = kThreads * kMessages * kBatches };
  struct ranks ranks = enter(64, 0);
  struct sender senders[kThreads];
  pthread_barrier_t all;
  dfcclRequest_t whole = NULL;
  int* received = calloc(kAll, sizeof *received);
  CHECK(pthread_barrier_init(&all, NULL, kThreads) == 0);
  for (int t = 0; t < kThreads; t++) {
    senders[t].all = &all;
    senders[t].group = ranks.group[0];
    senders[t].failures = 0;
    for (int i = 0; i < kMessages; i++) senders[t].values[i] = t * kMessages + i;
    CHECK(pthread_create(&senders[t].thread, NULL, send_batches, &senders[t]) == 0);
  }
  CHECK_OK(dfcclBatchBegin());
  for (int i = 0; i < kAll; i++) CHECK_OK(dfcclRecv(&received[i], 1, dfcclInt32, 0, ranks.group[1], 0, NULL, NULL));
  CHECK_OK(dfcclBatchEnd(&whole));
  CHECK_OK(dfcclWaitRun(whole, 0));
  int wrong = 0, of[kThreads] = {0};
  for (int t = 0; t < kThreads; t++) {
    pthread_join(senders[t].thread, NULL);
    wrong += senders[t].failures;
  }
  for (int i = 0; i < kAll; i++) {
    wrong +=
        received[i] % kMessages != i % kMessages || received[i] / kMessages != received[i - i % kMessages] / kMessages;
    of[received[i] / kMessages]++;
  }
  for (int t = 0; t < kThreads; t++) wrong += of[t] != kMessages * kBatches;
  CHECK(wrong == 0);
  pthread_barrier_destroy(&all);
  free(received);
  leave(&ranks);
}

int main(void) {
  every_kind(0);
  every_kind(1);
  kept_until_the_end();
  all_or_nothing();
  a_part_is_aborted();
  of_several_threads();
  return report();
}

/* Receives from any member: what comes first is taken, and who has sent it is told. */
#include <sched.h>
#include <stdatomic.h>

#include "c_api/check.h"
#include "c_api/processes.h"

enum { kRanks = 4, kMessages = 60 };

/* Every rank sends to all others and itself, and receives from any; of each sender, messages come in their order. */
static void from_all(dfcclRankCtx_t ctx, int rank, int ranks) {
  static _Thread_local int out[kRanks][kMessages], in[kRanks * kMessages], source[kRanks * kMessages];
  static _Thread_local dfcclRequest_t received[kRanks * kMessages];
  dfcclGroup_t group = NULL;
  unsigned state = (unsigned)rank * 77 + 5;
  int left[kRanks], seen[kRanks] = {0}, wrong = 0;
  const int count = ranks * kMessages;
  CHECK_OK(dfcclGroupCreate(NULL, 0, 0, &group, ctx));
  for (int r = 0; r < ranks; r++) left[r] = kMessages;
  for (int sent = 0, receiving = 0; sent < count || receiving < count;) {
    if (receiving < count && (sent == count || next_random(&state) % 2 == 0)) {
      const int i = receiving++;
      CHECK_OK(dfcclRecvAny(&in[i], 1, dfcclInt32, &source[i], group, 3, &received[i]));
      continue;
    }
    const int to = (int)(next_random(&state) % (unsigned)ranks), next = kMessages - left[to];
    if (left[to] == 0) continue;
    out[to][next] = 1000 * rank + next;
    CHECK_OK(dfcclSend(&out[to][next], 1, dfcclInt32, to, group, 3, NULL, NULL));
    left[to]--, sent++;
  }
  for (int i = 0; i < count; i++) CHECK_OK(dfcclWaitRun(received[i], 0));
  for (int i = 0; i < count; i++) {
    const int from = source[i];
    wrong += from < 0 || from >= ranks || in[i] / 1000 != from || seen[from]++ >= kMessages;
  }
  /* The first receives that were asked for got the first messages of whom they got one of. */
  for (int r = 0; r < ranks; r++) {
    int before = -1;
    for (int i = 0; i < count; i++) {
      if (source[i] != r) continue;
      wrong += in[i] <= before;
      before = in[i];
    }
    wrong += seen[r] != kMessages;
  }
  CHECK(wrong == 0);
  CHECK_OK(dfcclWait(ctx));
  CHECK_OK(dfcclGroupDestroy(group));
}

static void on_thread(int rank, void* world) {
  dfcclRankCtx_t ctx = NULL;
  CHECK_OK(dfcclInitRank(world, rank, &ctx));
  from_all(ctx, rank, kRanks);
  CHECK_OK(dfcclDestroy(ctx));
}

/* Whoever waits for a rank waits for what it receives, whoever finds the sender. */
static void one_at_a_time(int rank, void* world) {
  enum { kRounds = 20000 };
  dfcclRankCtx_t ctx = NULL;
  dfcclGroup_t group = NULL;
  int wrong = 0;
  CHECK_OK(dfcclInitRank(world, rank, &ctx));
  CHECK_OK(dfcclGroupCreate(NULL, 0, 0, &group, ctx));
  for (int i = 1; i <= kRounds; i++) {
    int x = rank == 0 ? 0 : i, source = -1;
    if (rank == 0) {
      CHECK_OK(dfcclRecvAny(&x, 1, dfcclInt32, &source, group, 0, NULL));
    } else {
      CHECK_OK(dfcclSend(&x, 1, dfcclInt32, 0, group, 0, NULL, NULL));
    }
    CHECK_OK(dfcclWait(ctx));
    wrong += x != i || source != (rank == 0 ? 1 : -1);
  }
  CHECK(wrong == 0);
  CHECK_OK(dfcclGroupDestroy(group));
  CHECK_OK(dfcclDestroy(ctx));
}

static dfcclResult_t destroyed = dfcclSuccess;
static void destroy_own(void* ctx, dfcclResult_t status) {
  (void)status;
  destroyed = dfcclDestroy((dfcclRankCtx_t)ctx);
}

static void set(void* flag, dfcclResult_t status) {
  CHECK(status == dfcclSuccess);
  atomic_store((atomic_int*)flag, 1);
}

/* The world's workers receive for a program that calls nothing meanwhile. */
static void unattended(dfcclRankCtx_t ctx, int rank, struct line line) {
  int x = 7, source = -1;
  atomic_int is_over = 0;
  dfcclGroup_t group = NULL;
  dfcclRequest_t request = NULL;
  CHECK_OK(dfcclGroupCreate(NULL, 0, 2, &group, ctx));
  if (rank == 0) {
    CHECK_OK(dfcclRecvAny(&x, 1, dfcclInt32, &source, group, 0, &request));
    CHECK_OK(dfcclNotifyRun(request, set, &is_over));
    say(line);
    while (!atomic_load(&is_over)) sched_yield();
    CHECK(x == 8 && source == 1);
    CHECK_OK(dfcclFreeRequest(request));
  } else {
    x = 8;
    hear(line); /* rank 0 has asked */
    CHECK_OK(dfcclSend(&x, 1, dfcclInt32, 0, group, 0, NULL, NULL));
  }
  CHECK_OK(dfcclWait(ctx));
  CHECK_OK(dfcclGroupDestroy(group));
}

static void in_process(dfcclRankCtx_t ctx, int rank, struct line line) {
  from_all(ctx, rank, 2);
  unattended(ctx, rank, line);
  /* One ends without leaving: nobody is left who might send. */
  if (rank == 1) _exit(report());
  int in = 0, source = 0;
  dfcclGroup_t group = NULL;
  dfcclRequest_t request = NULL;
  CHECK_OK(dfcclGroupCreate(NULL, 0, 1, &group, ctx));
  CHECK_OK(dfcclRecvAny(&in, 1, dfcclInt32, &source, group, 0, &request));
  CHECK_OK(dfcclNotifyRun(request, destroy_own, ctx));
  CHECK(dfcclWaitRun(request, 0) == dfcclAborted && source == -1);
  CHECK(destroyed == dfcclInUse);
}

/* What it goes with, and what it doesn't; and how it ends that nobody sends. */
static void one_by_one(void) {
  dfcclWorld_t world = open_world(3, DFCCL_NO_WORKERS);
  dfcclRankCtx_t ctx[3];
  dfcclGroup_t group[3];
  dfcclRequest_t any = NULL, named = NULL, whole = NULL;
  int x[3] = {7, 8, 9}, y = 0, z = 0, source = 5, is_over = 1;
  for (int r = 0; r < 3; r++) {
    CHECK_OK(dfcclInitRank(world, r, &ctx[r]));
    CHECK_OK(dfcclGroupCreate(NULL, 0, 0, &group[r], ctx[r]));
  }
  /* Another tag, another count and another type are other messages. */
  CHECK_OK(dfcclRecvAny(&y, 1, dfcclInt32, &source, group[0], 1, &any));
  CHECK_OK(dfcclSend(&x[1], 1, dfcclInt32, 0, group[1], 2, NULL, NULL));
  CHECK_OK(dfcclSend(x, 2, dfcclInt32, 0, group[1], 1, NULL, NULL));
  CHECK_OK(dfcclSend(&x[1], 1, dfcclUint32, 0, group[1], 1, NULL, NULL));
  for (int i = 0; i < 50; i++) CHECK_OK(dfcclPoll(NULL, ctx[0]));
  CHECK_OK(dfcclTestRun(any, &is_over));
  CHECK(!is_over && source == -1);
  CHECK(dfcclWaitRun(any, 1000) == dfcclTimeout);
  CHECK(strstr(dfcclGetLastError(), "receive from any rank of 1 int32, tag 1: no rank has sent it") != NULL);
  CHECK(dfcclGroupDestroy(group[0]) == dfcclInUse);
  CHECK(dfcclDestroy(ctx[0]) == dfcclInUse);
  CHECK(dfcclWaitFor(1000, ctx[0]) == dfcclTimeout);
  CHECK(dfcclWaitRunOnStream(any, NULL) == dfcclUnavailable);
  CHECK_OK(dfcclSend(&x[2], 1, dfcclInt32, 0, group[2], 1, NULL, NULL));
  CHECK_OK(dfcclWaitRun(any, 0));
  CHECK(y == 9 && source == 2);
  /* A receive that names the sender comes first, although it came later. */
  CHECK_OK(dfcclRecvAny(&y, 1, dfcclInt32, &source, group[0], 4, &any));
  CHECK_OK(dfcclRecv(&z, 1, dfcclInt32, 2, group[0], 4, NULL, &named));
  CHECK_OK(dfcclSend(&x[2], 1, dfcclInt32, 0, group[2], 4, NULL, NULL));
  CHECK_OK(dfcclWaitRun(named, 0));
  CHECK_OK(dfcclTestRun(any, &is_over));
  CHECK(z == 9 && !is_over);
  CHECK_OK(dfcclSend(&x[1], 1, dfcclInt32, 0, group[1], 4, NULL, NULL));
  CHECK_OK(dfcclWaitRun(any, 0));
  CHECK(y == 8 && source == 1);
  /* In a batch; nobody wants to know from whom. */
  CHECK_OK(dfcclBatchBegin());
  CHECK_OK(dfcclRecvAny(&y, 1, dfcclInt32, NULL, group[0], 5, NULL));
  CHECK_OK(dfcclSend(&x[0], 1, dfcclInt32, 0, group[0], 5, NULL, NULL));
  CHECK_OK(dfcclBatchEnd(&whole));
  CHECK_OK(dfcclWaitRun(whole, 0));
  CHECK(y == 7);
  /* What nobody sends is given up with the group. */
  CHECK_OK(dfcclRecvAny(&y, 1, dfcclInt32, &source, group[0], 6, &any));
  CHECK_OK(dfcclGroupAbort(group[0]));
  CHECK(dfcclWaitRun(any, 0) == dfcclAborted && source == -1);
  for (int r = 1; r < 3; r++) CHECK_OK(dfcclGroupAbort(group[r]));
  CHECK_OK(dfcclWaitAll(ctx, 3));
  for (int r = 0; r < 3; r++) CHECK_OK(dfcclDestroy(ctx[r]));
  CHECK_OK(dfcclWorldDestroy(world));
}

int main(void) {
  struct rank_process ranks[2];
  begin_ranks(ranks, in_process);
  hear(ranks[0].parent);
  say(ranks[1].parent);
  end_ranks(ranks);
  one_by_one();
  dfcclWorld_t pair = open_world(2, 1);
  on_threads(2, one_at_a_time, pair);
  CHECK_OK(dfcclWorldDestroy(pair));
  for (int workers = 0; workers < 2; workers++) {
    dfcclWorld_t world = open_world(kRanks, workers == 0 ? DFCCL_NO_WORKERS : 1);
    on_threads(kRanks, on_thread, world);
    CHECK_OK(dfcclWorldDestroy(world));
  }
  return report();
}

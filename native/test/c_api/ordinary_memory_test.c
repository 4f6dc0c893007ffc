/* Large buffers of memory that the other processes don't reach, beside such that they do, in any mixture. */
#include "c_api/joined_ranks.h"

enum { kRanks = 4, kRounds = 40, kAtOnce = 3, kMostBytes = 3 << 20 };

enum kind {
  allReduce,
  allReduceInPlace,
  average,
  allGather,
  reduceScatter,
  allToAll,
  broadcast,
  reduce,
  gather,
  scatter,
  message,
  kKinds
};

struct run {
  enum kind kind;
  size_t count; /* of a segment */
  int root, peer;
  int *send, *recv;
  int isSendAllocated, isRecvAllocated;
  dfcclRequest_t request;
};

static int value(int rank, size_t i) { return rank * 1000 + (int)(i % 997); }
static int sum_of(size_t i) {
  int sum = 0;
  for (int r = 0; r < kRanks; r++) sum += value(r, i);
  return sum;
}

static int* memory_for(int isAllocated, dfcclRankCtx_t ctx) {
  int* memory = NULL;
  if (isAllocated) {
    CHECK_OK(dfcclAllocate(kMostBytes, (void**)&memory, ctx));
  } else {
    memory = malloc(kMostBytes);
  }
  return memory;
}
static void free_memory(int* memory, int isAllocated, dfcclRankCtx_t ctx) {
  if (isAllocated) {
    CHECK_OK(dfcclFree(memory, kMostBytes, ctx));
  } else {
    free(memory);
  }
}

/* Of all ranks the same, but for where its buffers lie. */
static void draw(struct run* run, unsigned* common, unsigned* own) {
  run->kind = (enum kind)(next_random(common) % kKinds);
  const int isSegmented =
      run->kind >= allGather && run->kind != broadcast && run->kind != reduce && run->kind != message;
  run->count = kMostBytes / sizeof(int) / (isSegmented ? kRanks : 1) - next_random(common) % 5000;
  if (next_random(common) % 2 == 0) run->count /= next_random(common) % 2 == 0 ? 8 : 64; /* in the ring at once; none */
  run->root = (int)(next_random(common) % kRanks);
  run->peer = (run->root + 1 + (int)(next_random(common) % (kRanks - 1))) % kRanks;
  run->isSendAllocated = next_random(own) % 3 == 0;
  run->isRecvAllocated = next_random(own) % 3 == 0;
}

static void begin(struct run* run, int rank, uint64_t tag, dfcclGroup_t group, dfcclRankCtx_t ctx) {
  const size_t n = run->count;
  dfcclRequest_t* const r = &run->request;
  run->send = memory_for(run->isSendAllocated, ctx);
  run->recv = memory_for(run->isRecvAllocated, ctx);
  const size_t length = run->kind == reduceScatter || run->kind == allToAll || run->kind == scatter ? kRanks * n : n;
  for (size_t i = 0; i < length; i++) run->send[i] = run->recv[i] = value(rank, i);
  run->request = NULL;
  switch (run->kind) {
    case allReduce:
      CHECK_OK(dfcclAllReduce(run->send, run->recv, n, dfcclInt32, dfcclSum, group, tag, NULL, r));
      return;
    case allReduceInPlace:
      CHECK_OK(dfcclAllReduce(run->recv, run->recv, n, dfcclInt32, dfcclSum, group, tag, NULL, r));
      return;
    case average:
      CHECK_OK(dfcclAllReduce(run->send, run->recv, n, dfcclInt32, dfcclAvg, group, tag, NULL, r));
      return;
    case allGather:
      CHECK_OK(dfcclAllGather(run->send, run->recv, n, dfcclInt32, group, tag, NULL, r));
      return;
    case reduceScatter:
      CHECK_OK(dfcclReduceScatter(run->send, run->recv, n, dfcclInt32, dfcclSum, group, tag, NULL, r));
      return;
    case allToAll:
      CHECK_OK(dfcclAllToAll(run->send, run->recv, n, dfcclInt32, group, tag, NULL, r));
      return;
    case broadcast:
      CHECK_OK(dfcclBroadcast(run->recv, run->recv, n, dfcclInt32, run->root, group, tag, NULL, r));
      return;
    case reduce:
      CHECK_OK(dfcclReduce(run->send, run->recv, n, dfcclInt32, dfcclSum, run->root, group, tag, NULL, r));
      return;
    case gather:
      CHECK_OK(dfcclGather(run->send, run->recv, n, dfcclInt32, run->root, group, tag, NULL, r));
      return;
    case scatter:
      CHECK_OK(dfcclScatter(run->send, run->recv, n, dfcclInt32, run->root, group, tag, NULL, r));
      return;
    default:
      if (rank == run->root) CHECK_OK(dfcclSend(run->send, n, dfcclInt32, run->peer, group, tag, NULL, r));
      if (rank == run->peer) CHECK_OK(dfcclRecv(run->recv, n, dfcclInt32, run->root, group, tag, NULL, r));
  }
}

/* What a member's element must be; -1: it gets none. */
static int expected(const struct run* run, int rank, size_t i) {
  const size_t n = run->count, segment = i / n;
  switch (run->kind) {
    case allReduce:
    case allReduceInPlace:
      return i < n ? sum_of(i) : -1;
    case average:
      return i < n ? sum_of(i) / kRanks : -1;
    case allGather:
      return segment < kRanks ? value((int)segment, i % n) : -1;
    case reduceScatter:
      return i < n ? sum_of((size_t)rank * n + i) : -1;
    case allToAll:
      return segment < kRanks ? value((int)segment, (size_t)rank * n + i % n) : -1;
    case broadcast:
      return i < n ? value(run->root, i) : -1;
    case reduce:
      return rank == run->root && i < n ? sum_of(i) : -1;
    case gather:
      return rank == run->root && segment < kRanks ? value((int)segment, i % n) : -1;
    case scatter:
      return i < n ? value(run->root, (size_t)rank * n + i) : -1;
    default:
      return rank == run->peer && i < n ? value(run->root, i) : -1;
  }
}

static void end(struct run* run, int rank, dfcclRankCtx_t ctx) {
  if (run->request != NULL) CHECK_OK(dfcclWaitRun(run->request, 0));
  size_t wrong = 0;
  for (size_t i = 0; i < kMostBytes / sizeof(int); i++) {
    const int wanted = expected(run, rank, i);
    wrong += wanted >= 0 && run->recv[i] != wanted;
  }
  if (wrong != 0) fprintf(stderr, "kind %d, rank %d: %zu of %zu are wrong\n", run->kind, rank, wrong, run->count);
  CHECK(wrong == 0);
  free_memory(run->send, run->isSendAllocated, ctx);
  free_memory(run->recv, run->isRecvAllocated, ctx);
}

static void be(int rank, const char* job) {
  const struct joined_rank joined = join_rank(job, rank, kRanks, 0);
  const dfcclRankCtx_t ctx = joined.ctx;
  const dfcclGroup_t group = joined.group;
  unsigned common = 88172645u, own = 521288629u + (unsigned)rank;
  for (int round = 0; round < kRounds; round++) {
    struct run runs[kAtOnce];
    int order[kAtOnce];
    for (int i = 0; i < kAtOnce; i++) draw(&runs[i], &common, &own);
    shuffle(order, kAtOnce, &own);
    for (int i = 0; i < kAtOnce; i++) begin(&runs[order[i]], rank, (uint64_t)order[i], group, ctx);
    for (int i = 0; i < kAtOnce; i++) end(&runs[i], rank, ctx);
  }
  leave_world(joined);
}

int main(void) {
  pass_as_processes("ordinary", kRanks, be);
  return report();
}

/* Runs that bring their counts: each does what one of a collective that was registered for that count does. */
#include "c_api/check.h"

enum { kRanks = 3, kRoot = 1, kMost = 30000, kGuard = 64, kPerRun = 1, kFixed = 2, kTypes = 12 };

static const size_t sizes[kTypes] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};

static dfcclWorld_t world;
static dfcclRankCtx_t ctx[kRanks];
static unsigned char in[kRanks][kRanks * kMost * 8];
static unsigned char out[2][kRanks][kRanks * kMost * 8 + kGuard];
static unsigned state = 2463534242u;
static atomic_int ended, mismatched;

static void note(void* unused, dfcclResult_t status) {
  (void)unused;
  atomic_fetch_add(&ended, status == dfcclSuccess);
  atomic_fetch_add(&mismatched, status == dfcclCountMismatch);
}

typedef enum {
  kAllReduce,
  kAllGather,
  kReduceScatter,
  kReduce,
  kBroadcast,
  kAllToAll,
  kGather,
  kScatter,
  kKinds
} kind_t;

static dfcclResult_t register_one(kind_t kind, size_t count, dfcclDataType_t type, dfcclRedOp_t op, int id, int rank) {
  const dfcclDevSet_t all = dfcclAllRanks();
  switch (kind) {
    case kAllReduce:
      return dfcclRegisterAllReduce(count, type, op, id, all, 0, ctx[rank]);
    case kAllGather:
      return dfcclRegisterAllGather(count, type, id, all, 0, ctx[rank]);
    case kReduceScatter:
      return dfcclRegisterReduceScatter(count, type, op, id, all, 0, ctx[rank]);
    case kReduce:
      return dfcclRegisterReduce(count, type, op, kRoot, id, all, 0, ctx[rank]);
    case kBroadcast:
      return dfcclRegisterBroadcast(count, type, kRoot, id, all, 0, ctx[rank]);
    case kAllToAll:
      return dfcclRegisterAllToAll(count, type, id, all, 0, ctx[rank]);
    case kGather:
      return dfcclRegisterGather(count, type, kRoot, id, all, 0, ctx[rank]);
    default:
      return dfcclRegisterScatter(count, type, kRoot, id, all, 0, ctx[rank]);
  }
}

static void registered(kind_t kind, size_t count, dfcclDataType_t type, dfcclRedOp_t op, int id) {
  for (int r = 0; r < kRanks; r++) CHECK_OK(register_one(kind, count, type, op, id, r));
}

/* The same, of runs that bring their counts. */
static void registered_per_run(kind_t kind, size_t most, dfcclDataType_t type, dfcclRedOp_t op, int id) {
  for (int r = 0; r < kRanks; r++) CHECK_OK(dfcclSetCountPerRun(1, ctx[r]));
  registered(kind, most, type, op, id);
  for (int r = 0; r < kRanks; r++) CHECK_OK(dfcclSetCountPerRun(0, ctx[r]));
}

static void unregistered(int id) {
  for (int r = 0; r < kRanks; r++) CHECK_OK(dfcclUnregister(id, ctx[r]));
}

/* Whether a run with a count leaves the same bytes, and as many of them alone, as one of a collective that was
 * registered for it. */
static void compare(kind_t kind, dfcclDataType_t type, dfcclRedOp_t op, size_t count) {
  registered(kind, count, type, op, kFixed);
  memset(out, 0x5a, sizeof out);
  for (int r = 0; r < kRanks; r++) {
    CHECK_OK(dfcclRunCount(in[r], out[0][r], count, kPerRun, note, NULL, ctx[r]));
    CHECK_OK(dfcclRun(in[r], out[1][r], kFixed, note, NULL, ctx[r]));
  }
  CHECK_OK(dfcclWaitAll(ctx, kRanks));
  const size_t bytes = kRanks * count * sizes[type] + kGuard;
  for (int r = 0; r < kRanks; r++) CHECK(memcmp(out[0][r], out[1][r], bytes) == 0);
  unregistered(kFixed);
}

static void every_kind_and_type(size_t most) {
  for (size_t i = 0; i < sizeof in; i++) ((unsigned char*)in)[i] = (unsigned char)(next_random(&state) >> 13);
  for (int kind = 0; kind < kKinds; kind++) {
    for (int type = 0; type < kTypes; type++) {
      const dfcclRedOp_t op = (dfcclRedOp_t)((kind + type) % 5);
      registered_per_run((kind_t)kind, most, (dfcclDataType_t)type, op, kPerRun);
      const size_t counts[] = {next_random(&state) % 100, next_random(&state) % kMost, 0, 1, kMost, kRanks - 1};
      for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        compare((kind_t)kind, (dfcclDataType_t)type, op, counts[i]);
      unregistered(kPerRun);
    }
  }
}

/* What dfcclRun means of such an id: as many as it was registered with. And in place. */
static void without_a_count(void) {
  static float values[kRanks][kMost];
  registered_per_run(kAllReduce, 5, dfcclFloat32, dfcclSum, kPerRun);
  for (int count = 5; count >= 3; count--) {
    for (int r = 0; r < kRanks; r++) {
      for (int i = 0; i < 6; i++) values[r][i] = 1;
      CHECK_OK(count == 5 && r != 0 ? dfcclRun(values[r], values[r], kPerRun, NULL, NULL, ctx[r])
                                    : dfcclRunCount(values[r], values[r], (size_t)count, kPerRun, NULL, NULL, ctx[r]));
    }
    CHECK_OK(dfcclWaitAll(ctx, kRanks));
    for (int r = 0; r < kRanks; r++) {
      CHECK(count_equal(values[r], (size_t)count, kRanks));
      CHECK(count_equal(values[r] + count, 6 - (size_t)count, 1));
    }
  }
  unregistered(kPerRun);
}

static void send_recv(void) {
  const int pair[] = {2, 0};
  for (int r = 0; r < kRanks; r += 2) {
    CHECK_OK(dfcclSetCountPerRun(1, ctx[r]));
    CHECK_OK(dfcclRegisterSendRecv(DFCCL_ANY_COUNT, dfcclUint8, 0, kPerRun, (dfcclDevSet_t){pair, 2}, 0, ctx[r]));
    CHECK_OK(dfcclSetCountPerRun(0, ctx[r]));
  }
  for (size_t count = 1; count < 100000; count *= 3) {
    memset(out, 0, sizeof out);
    CHECK_OK(dfcclRunCount(NULL, out[0][0], count, kPerRun, NULL, NULL, ctx[0]));
    CHECK_OK(dfcclRunCount(in[2], NULL, count, kPerRun, NULL, NULL, ctx[2]));
    CHECK_OK(dfcclWaitAll(ctx, kRanks));
    CHECK(memcmp(out[0][0], in[2], count) == 0 && out[0][0][count] == 0);
  }
  for (int r = 0; r < kRanks; r += 2) CHECK_OK(dfcclUnregister(kPerRun, ctx[r]));
}

/* Runs whose counts differ, small and large, between others that they must not keep from anything. */
static void ranks_disagree(void) {
  static const size_t counts[][kRanks] = {{4, 4, 4},     {4, 5, 4},     {20000, 20000, 20000},
                                          {0, 20000, 7}, {1, 20000, 1}, {20000, 20000, 20000},
                                          {2, 2, 2},     {0, 0, 1}};
  static float values[kRanks][kMost], sums[kRanks][kMost];
  registered_per_run(kAllReduce, DFCCL_ANY_COUNT, dfcclFloat32, dfcclSum, kPerRun);
  registered(kAllReduce, 1, dfcclFloat32, dfcclSum, kFixed);
  for (int r = 0; r < kRanks; r++)
    for (int i = 0; i < kMost; i++) values[r][i] = (float)(r + 1);
  size_t got[kRanks + 1] = {0};
  int members = -1;
  CHECK_OK(dfcclGetMismatchedCounts(got, kRanks, &members, kPerRun, ctx[0]));
  CHECK(members == 0);
  for (int round = 0; round < 40; round++) {
    const size_t* mine = counts[round % 8];
    const int agree = mine[0] == mine[1] && mine[1] == mine[2];
    atomic_store(&ended, 0);
    atomic_store(&mismatched, 0);
    memset(sums, 0, sizeof sums);
    float ones[kRanks] = {1, 1, 1};
    for (int r = 0; r < kRanks; r++) {
      CHECK_OK(dfcclRunCount(values[r], sums[r], mine[r], kPerRun, note, NULL, ctx[r]));
      CHECK_OK(dfcclRun(&ones[r], &ones[r], kFixed, NULL, NULL, ctx[r]));
    }
    CHECK_OK(dfcclWaitAll(ctx, kRanks));
    CHECK(count_equal(ones, kRanks, kRanks));
    CHECK(atomic_load(&ended) == (agree ? kRanks : 0) && atomic_load(&mismatched) == (agree ? 0 : kRanks));
    for (int r = 0; r < kRanks; r++) {
      const size_t written = agree ? mine[0] : 0;
      CHECK(count_equal(sums[r], written, 6) && count_equal(sums[r] + written, kMost - written, 0));
      if (agree) continue;
      got[kRanks] = 77;
      CHECK_OK(dfcclGetMismatchedCounts(got, kRanks, &members, kPerRun, ctx[r]));
      CHECK(members == kRanks && memcmp(got, mine, sizeof(size_t[kRanks])) == 0 && got[kRanks] == 77);
    }
  }
  /* An array that is too small, and one that is none. */
  got[1] = 77;
  CHECK_OK(dfcclGetMismatchedCounts(got, 1, &members, kPerRun, ctx[0]));
  CHECK(members == kRanks && got[0] == 0 && got[1] == 77);
  CHECK_OK(dfcclGetMismatchedCounts(NULL, 0, &members, kPerRun, ctx[0]));
  CHECK(dfcclGetMismatchedCounts(got, 1, NULL, kPerRun, ctx[0]) == dfcclInvalidArgument);
  CHECK(dfcclGetMismatchedCounts(NULL, 1, &members, kPerRun, ctx[0]) == dfcclInvalidArgument);
  CHECK(dfcclGetMismatchedCounts(got, -1, &members, kPerRun, ctx[0]) == dfcclInvalidArgument);
  unregistered(kPerRun);
  unregistered(kFixed);
}

static void refused(void) {
  static float value[8];
  for (int r = 0; r < kRanks; r++) CHECK_OK(dfcclSetCountPerRun(1, ctx[r]));
  registered(kAllReduce, 8, dfcclFloat32, dfcclSum, kPerRun);
  CHECK(dfcclRunCount(value, value, 9, kPerRun, NULL, NULL, ctx[0]) == dfcclInvalidArgument);
  CHECK(strstr(dfcclGetLastError(), "a run has count 9, and was registered for at most 8") != NULL);
  CHECK(dfcclRunCount(value, value, (size_t)-1, kPerRun, NULL, NULL, ctx[0]) == dfcclInvalidArgument);
  CHECK(dfcclRunCount(NULL, value, 1, kPerRun, NULL, NULL, ctx[0]) == dfcclInvalidArgument);
  CHECK(dfcclRunCount(value, value + 1, 2, kPerRun, NULL, NULL, ctx[0]) == dfcclInvalidArgument);
  CHECK(dfcclRunCount(value, value, 1, kFixed, NULL, NULL, ctx[0]) == dfcclUnknownCollective);
  /* Ranks that disagree on whether runs bring their counts. A barrier has none, whatever is set. */
  for (int r = 0; r < kRanks; r++) CHECK_OK(dfcclRegisterBarrier(9, dfcclAllRanks(), 0, ctx[r]));
  CHECK_OK(register_one(kAllReduce, 8, dfcclFloat32, dfcclSum, kFixed, 0));
  CHECK_OK(dfcclSetCountPerRun(0, ctx[1]));
  CHECK(register_one(kAllReduce, 8, dfcclFloat32, dfcclSum, kFixed, 1) == dfcclRegistrationMismatch);
  CHECK(strstr(dfcclGetLastError(), "registers countPerRun false") != NULL);
  CHECK_OK(dfcclUnregister(kFixed, ctx[0]));
  unregistered(kPerRun);
  unregistered(9);
  for (int r = 0; r < kRanks; r++) CHECK_OK(dfcclSetCountPerRun(0, ctx[r]));
  registered(kAllReduce, 8, dfcclFloat32, dfcclSum, kFixed);
  CHECK(dfcclRunCount(value, value, 8, kFixed, NULL, NULL, ctx[0]) == dfcclInvalidArgument);
  CHECK(strstr(dfcclGetLastError(), "has one count for all its runs") != NULL);
  CHECK(register_one(kAllReduce, DFCCL_ANY_COUNT, dfcclFloat32, dfcclSum, kPerRun, 0) == dfcclInvalidArgument);
  registered_per_run(kAllReduce, DFCCL_ANY_COUNT, dfcclFloat32, dfcclSum, kPerRun);
  CHECK(dfcclRun(value, value, kPerRun, NULL, NULL, ctx[0]) == dfcclInvalidArgument);
  CHECK(strstr(dfcclGetLastError(), "was registered for any count, and the run has none") != NULL);
  CHECK_OK(dfcclWaitAll(ctx, kRanks));
  unregistered(kPerRun);
  unregistered(kFixed);
}

static void open_ranks(uint32_t grid) {
  dfcclWorldConfig_t config = DFCCL_WORLD_CONFIG_INIT;
  config.ranks = kRanks;
  config.workers = 1;
  config.grid = grid;
  config.arenaBytes = (size_t)64 << 20;
  CHECK_OK(dfcclWorldCreate(&config, &world));
  for (int r = 0; r < kRanks; r++) CHECK_OK(dfcclInitRank(world, r, &ctx[r]));
}

static void close_ranks(void) {
  for (int r = 0; r < kRanks; r++) CHECK_OK(dfcclDestroy(ctx[r]));
  CHECK_OK(dfcclWorldDestroy(world));
}

int main(void) {
  for (uint32_t grid = 1; grid <= 2; grid++) {
    open_ranks(grid);
    every_kind_and_type(grid == 1 ? kMost : DFCCL_ANY_COUNT);
    without_a_count();
    send_recv();
    ranks_disagree();
    refused();
    close_ranks();
  }
  return report();
}

/* Runs that nobody registered: what matches, in whatever order, and what a rank keeps of it. */
#include "c_api/check.h"

enum { kRanks = 4 };

/* Two signatures, thousands of runs, each rank all of one before all of the other: more than there are slots. */
static void opposite(int rank, void* world) {
  enum { kRuns = 2000 };
  dfcclRankCtx_t ctx = NULL;
  dfcclGroup_t group = NULL;
  CHECK_OK(dfcclInitRank(world, rank, &ctx));
  const int both[] = {0, 1};
  CHECK_OK(dfcclGroupCreate(both, 2, 0, &group, ctx));
  float* in = malloc(2 * kRuns * sizeof *in);
  float* out = calloc(2 * kRuns, sizeof *out);
  int refused = 0;
  for (int half = 0; half < 2; half++) {
    const uint64_t tag = (uint64_t)(rank == 0 ? half : 1 - half);
    for (int i = 0; i < kRuns; i++) {
      float* at = &in[tag * kRuns + (uint64_t)i];
      *at = (float)i;
      refused += dfcclAllReduce(at, out + (at - in), 1, dfcclFloat32, dfcclSum, group, tag, NULL, NULL) != dfcclSuccess;
    }
  }
  CHECK(refused == 0);
  CHECK_OK(dfcclWait(ctx));
  int wrong = 0;
  for (int i = 0; i < 2 * kRuns; i++) wrong += out[i] != 2.0f * (float)(i % kRuns);
  CHECK(wrong == 0);
  CHECK_OK(dfcclDestroy(ctx)); /* with its group */
  free(in);
  free(out);
}

/* Runs that differ in one fact only, one rank in one order and the other in the reverse. */
static void all_but_one_alike(int rank, void* world) {
  enum { kAlike = 9 };
  dfcclRankCtx_t ctx = NULL;
  dfcclGroup_t group[2] = {NULL, NULL};
  CHECK_OK(dfcclInitRank(world, rank, &ctx));
  const int both[] = {0, 1}, reversed[] = {1, 0};
  CHECK_OK(dfcclGroupCreate(both, 2, 0, &group[0], ctx));
  CHECK_OK(dfcclGroupCreate(reversed, 2, 0, &group[1], ctx));
  int in[kAlike], out[kAlike];
  float real = 1.5f + (float)rank, sum = 0;
  dfcclRequest_t r[kAlike];
  for (int i = 0; i < kAlike; i++) in[i] = 10 * i + rank, out[i] = -1;
  for (int i = 0; i < kAlike; i++) {
    const int which = rank == 0 ? i : kAlike - 1 - i;
    const int* from = &in[which];
    int* to = &out[which];
    dfcclRequest_t* request = &r[which];
    dfcclResult_t result = dfcclInvalidArgument;
    switch (which) {
      case 0:
        result = dfcclAllReduce(from, to, 1, dfcclInt32, dfcclSum, group[0], 0, NULL, request);
        break;
      case 1:
        result = dfcclAllReduce(from, to, 1, dfcclInt32, dfcclMax, group[0], 0, NULL, request);
        break;
      case 2:
        result = dfcclAllReduce(&real, &sum, 1, dfcclFloat32, dfcclSum, group[0], 0, NULL, request);
        break;
      case 3:
        result = dfcclAllReduce(from, to, 1, dfcclInt32, dfcclSum, group[0], 1, NULL, request);
        break;
      case 4:
        result = dfcclAllReduce(from, to, 1, dfcclInt32, dfcclSum, group[1], 0, NULL, request);
        break;
      case 5:
        result = dfcclBroadcast(from, to, 1, dfcclInt32, 0, group[0], 0, NULL, request);
        break;
      case 6:
        result = dfcclBroadcast(from, to, 1, dfcclInt32, 1, group[0], 0, NULL, request);
        break;
      case 7:
        result = rank == 0 ? dfcclSend(from, 1, dfcclInt32, 1, group[0], 0, NULL, request)
                           : dfcclRecv(to, 1, dfcclInt32, 0, group[0], 0, NULL, request);
        break;
      default: {
        /* A single element, from rank 0 to rank 1. */
        const size_t none[] = {0, 0}, one[] = {1, 0};
        result = rank == 0 ? dfcclAllToAllV(from, (const size_t[]){0, 1}, NULL, to, none, NULL, dfcclInt32, group[0], 0,
                                            NULL, request)
                           : dfcclAllToAllV(from, none, NULL, to, one, NULL, dfcclInt32, group[0], 0, NULL, request);
        break;
      }
    }
    CHECK(result == dfcclSuccess);
  }
  CHECK_OK(dfcclWaitRuns(r, kAlike, 0));
  CHECK(out[0] == 1 && out[1] == 11 && sum == 4 && out[3] == 61 && out[4] == 81 && out[5] == 50 && out[6] == 61);
  CHECK(rank == 0 || (out[7] == 70 && out[8] == 80));
  CHECK_OK(dfcclDestroy(ctx));
}

/* Far more counts than a rank's tables hold, in an order of its own; what is unused is forgotten. */
enum { kCounts = 10000, kAtOnce = 50, kMembers = 8 };
static uint8_t addends[kMembers][kCounts], sums[kCounts], results[kMembers][kAtOnce][kCounts];

static void many_counts(int rank, void* world) {
  dfcclRankCtx_t ctx = NULL;
  dfcclGroup_t group = NULL;
  CHECK_OK(dfcclInitRank(world, rank, &ctx));
  CHECK_OK(dfcclGroupCreate(NULL, 0, 0, &group, ctx));
  dfcclCounters_t counters = {.structSize = sizeof counters};
  uint64_t memory = 0;
  for (int lap = 0; lap < 2; lap++) {
    /* The counts of a window at once, by half of the ranks in one order and by half in another. */
    int wrong = 0;
    for (int from = 0; from < kCounts; from += kAtOnce) {
      dfcclRequest_t requests[kAtOnce];
      for (int i = 0; i < kAtOnce; i++) {
        const int k = from + (i * (rank % 2 == 0 ? 1 : 7)) % kAtOnce;
        memset(results[rank][k - from], 0, kCounts);
        wrong += dfcclAllReduce(addends[rank], results[rank][k - from], (size_t)k, dfcclUint8, dfcclSum, group, 0, NULL,
                                &requests[i]) != dfcclSuccess;
        if (i % 10 == 9) wrong += dfcclPoll(NULL, ctx) != dfcclSuccess;
      }
      wrong += dfcclWaitRuns(requests, kAtOnce, 0) != dfcclSuccess;
      for (int k = from; k < from + kAtOnce; k++)
        wrong += memcmp(results[rank][k - from], sums, (size_t)k) != 0 || results[rank][k - from][k] != 0;
    }
    CHECK(wrong == 0);
    CHECK_OK(dfcclGetCounters(&counters, ctx));
    if (lap == 0) memory = counters.collectiveBytes;
    CHECK(counters.collectiveBytes <= memory + memory / 10);
  }
  CHECK_OK(dfcclGroupDestroy(group));
  CHECK_OK(dfcclDestroy(ctx));
}

static void of_many_counts(void) {
  for (int i = 0; i < kCounts; i++) {
    sums[i] = 0;
    for (int r = 0; r < kMembers; r++) sums[i] += addends[r][i] = (uint8_t)(r * 29 + i * 3 + 1);
  }
  dfcclWorld_t world = open_world(kMembers, 1);
  on_threads(kMembers, many_counts, world);
  CHECK_OK(dfcclWorldDestroy(world));
}

/* With places for a few signatures, many are used in turn: each is forgotten, and comes back. */
static void come_back(void) {
  enum { kSignatures = 7, kRounds = 50 };
  dfcclWorldConfig_t config = DFCCL_WORLD_CONFIG_INIT;
  config.ranks = 2;
  config.workers = DFCCL_NO_WORKERS;
  config.collectives = 4;
  dfcclWorld_t world = NULL;
  dfcclRankCtx_t ctx[2];
  dfcclGroup_t group[2];
  CHECK_OK(dfcclWorldCreate(&config, &world));
  for (int r = 0; r < 2; r++) {
    CHECK_OK(dfcclInitRank(world, r, &ctx[r]));
    CHECK_OK(dfcclGroupCreate(NULL, 0, 0, &group[r], ctx[r]));
  }
  unsigned state = 3;
  for (int round = 0; round < kRounds * kSignatures; round++) {
    const int which = (int)(next_random(&state) % kSignatures);
    int in[2][kSignatures], out[2][kSignatures];
    for (int r = 0; r < 2; r++) {
      for (int i = 0; i < kSignatures; i++) in[r][i] = round + r + i, out[r][i] = -1;
      CHECK_OK(dfcclAllReduce(in[r], out[r], (size_t)which + 1, dfcclInt32, dfcclSum, group[r], 0, NULL, NULL));
    }
    CHECK_OK(dfcclWaitAll(ctx, 2));
    int wrong = 0;
    for (int r = 0; r < 2; r++)
      for (int i = 0; i < kSignatures; i++) wrong += out[r][i] != (i <= which ? 2 * (round + i) + 1 : -1);
    CHECK(wrong == 0);
  }
  for (int r = 0; r < 2; r++) CHECK_OK(dfcclDestroy(ctx[r]));
  CHECK_OK(dfcclWorldDestroy(world));
}

/* A rank's tables are full of what is in flight: what has no room is refused, and nothing of it was submitted. */
static void no_room(void) {
  dfcclWorldConfig_t config = DFCCL_WORLD_CONFIG_INIT;
  config.ranks = kRanks;
  config.workers = DFCCL_NO_WORKERS;
  config.collectives = 4; /* three of them for signatures, and a fourth where there is no other way */
  dfcclWorld_t world = NULL;
  dfcclRankCtx_t ctx = NULL;
  dfcclGroup_t group = NULL;
  dfcclRequest_t request = NULL, none = NULL;
  int in[2 * kRanks] = {0}, out[2 * kRanks];
  CHECK_OK(dfcclWorldCreate(&config, &world));
  CHECK_OK(dfcclInitRank(world, 0, &ctx));
  CHECK_OK(dfcclGroupCreate(NULL, 0, 0, &group, ctx));
  CHECK_OK(dfcclAllReduce(in, out, 1, dfcclInt32, dfcclSum, group, 0, NULL, &request));
  const size_t counts[kRanks] = {0, 1, 2, 1};
  CHECK(dfcclAllToAllV(in, counts, NULL, out + 4, counts, NULL, dfcclInt32, group, 0, NULL, &none) == dfcclOutOfMemory);
  CHECK(none == NULL);
  CHECK(strstr(dfcclGetLastError(), "Rank 0 has 4 different calls in flight, and no place for another") != NULL);
  CHECK(strstr(dfcclGetLastError(), "Wait for some of them") != NULL);
  dfcclCounters_t counters = {.structSize = sizeof counters};
  CHECK_OK(dfcclGetCounters(&counters, ctx));
  CHECK(counters.runsInFlight == 1);
  CHECK(dfcclWaitRun(request, 1000) == dfcclTimeout);
  CHECK_OK(dfcclGroupAbort(group));
  CHECK(dfcclWaitRun(request, 0) == dfcclAborted);
  CHECK_OK(dfcclGroupDestroy(group));
  CHECK_OK(dfcclDestroy(ctx));
  CHECK_OK(dfcclWorldDestroy(world));
}

int main(void) {
  dfcclWorld_t world = open_world(kRanks, 1);
  on_threads(2, opposite, world);
  on_threads(2, all_but_one_alike, world);
  CHECK_OK(dfcclWorldDestroy(world));
  of_many_counts();
  come_back();
  no_room();
  return report();
}

/* Groups: made, used, split, given up and dropped; and collectives whose members have counts of their own. */
#include <features.h>
#include <malloc.h>

#include "c_api/check.h"

enum { kRanks = 4 };

enum { kMembers = 8 };

/* A thousand groups, made, used and dropped, in another order on each rank; two of the same ranks at a time. */
static void come_and_go(int rank, void* world) {
  dfcclRankCtx_t ctx = NULL;
  CHECK_OK(dfcclInitRank(world, rank, &ctx));
  for (int round = 0; round < 500; round++) {
    dfcclGroup_t groups[2];
    dfcclRequest_t requests[2];
    float in[2] = {1, 2}, out[2] = {0, 0};
    const int first = (rank + round) % 2;
    for (int i = 0; i < 2; i++) {
      const int which = i == 0 ? first : 1 - first;
      CHECK_OK(dfcclGroupCreate(NULL, 0, (uint64_t)which, &groups[which], ctx));
      CHECK_OK(
          dfcclAllReduce(&in[which], &out[which], 1, dfcclFloat32, dfcclSum, groups[which], 0, NULL, &requests[which]));
    }
    CHECK_OK(dfcclWaitRun(requests[1 - first], 0));
    CHECK_OK(dfcclGroupDestroy(groups[1 - first]));
    CHECK_OK(dfcclWaitRun(requests[first], 0));
    CHECK_OK(dfcclGroupDestroy(groups[first]));
    CHECK(out[0] == kMembers && out[1] == 2 * kMembers);
  }
  dfcclCounters_t counters = {.structSize = sizeof counters};
  CHECK_OK(dfcclGetCounters(&counters, ctx));
  CHECK(counters.collectiveBytes == 0);
  CHECK_OK(dfcclDestroy(ctx));
}

static void a_thousand(void) {
  dfcclWorld_t world = open_world(kMembers, 1);
  on_threads(kMembers, come_and_go, world);
  dfcclRankCtx_t ctx = NULL;
  CHECK_OK(dfcclInitRank(world, 0, &ctx));
  dfcclCounters_t counters = {.structSize = sizeof counters};
  CHECK_OK(dfcclGetCounters(&counters, ctx));
  CHECK(counters.arenaBytesUsed == 0);
  CHECK_OK(dfcclDestroy(ctx));
  CHECK_OK(dfcclWorldDestroy(world));
}

/* Colours and keys; and a rank that wants no part. */
static void split(int rank, void* world) {
  dfcclRankCtx_t ctx = NULL;
  dfcclGroup_t all = NULL, part = NULL;
  CHECK_OK(dfcclInitRank(world, rank, &ctx));
  CHECK_OK(dfcclGroupCreate(NULL, 0, 3, &all, ctx));
  for (int round = 0; round < 3; round++) {
    const int colour = rank == kRanks - 1 ? -1 : rank % 2;
    CHECK_OK(dfcclGroupSplit(all, colour, -rank, 0, &part));
    CHECK((part == NULL) == (colour < 0));
    if (part == NULL) continue;
    int place = -1, size = -1;
    CHECK_OK(dfcclGroupGetRank(&place, part));
    CHECK_OK(dfcclGroupGetRankCount(&size, part));
    CHECK(size == (colour == 0 ? 2 : 1) && place == (rank == 0 ? 1 : 0));
    int one = 1, sum = 0;
    dfcclRequest_t request;
    CHECK_OK(dfcclAllReduce(&one, &sum, 1, dfcclInt32, dfcclSum, part, 0, NULL, &request));
    CHECK_OK(dfcclWaitRun(request, 0));
    CHECK(sum == size);
    CHECK_OK(dfcclGroupDestroy(part));
  }
  CHECK_OK(dfcclGroupDestroy(all));
  CHECK_OK(dfcclDestroy(ctx));
}

/* Each rank's counts, and where they lie. */
static void uneven(int rank, void* world) {
  dfcclRankCtx_t ctx = NULL;
  dfcclGroup_t group = NULL;
  dfcclRequest_t r[4];
  CHECK_OK(dfcclInitRank(world, rank, &ctx));
  CHECK_OK(dfcclGroupCreate(NULL, 0, 0, &group, ctx));
  const size_t counts[kRanks] = {2, 0, 3, 1};
  const size_t places[kRanks] = {5, 0, 1, 8};
  int own[3], gathered[10], reduced[3] = {0}, all[6], rooted[6], scattered[3];
  for (int i = 0; i < 3; i++) own[i] = 10 * rank + i;
  for (int i = 0; i < 6; i++) all[i] = rank + i;
  memset(gathered, 0xff, sizeof gathered);
  CHECK_OK(dfcclAllGatherV(own, gathered, counts, places, dfcclInt32, group, 0, NULL, &r[0]));
  CHECK_OK(dfcclReduceScatterV(all, reduced, counts, dfcclInt32, dfcclSum, group, 0, NULL, &r[1]));
  CHECK_OK(dfcclGatherV(own, rooted, counts, NULL, dfcclInt32, 2, group, 0, NULL, &r[2]));
  CHECK_OK(dfcclScatterV(all, counts, NULL, scattered, dfcclInt32, 1, group, 0, NULL, &r[3]));
  CHECK_OK(dfcclWaitRuns(r, 4, 0));
  const int expected[10] = {-1, 20, 21, 22, -1, 0, 1, -1, 30, -1};
  CHECK(memcmp(gathered, expected, sizeof expected) == 0);
  const int begin[kRanks] = {0, 2, 2, 5};
  for (int i = 0; i < (int)counts[rank]; i++) {
    CHECK(reduced[i] == 6 + 4 * (begin[rank] + i));
    CHECK(scattered[i] == 1 + begin[rank] + i);
  }
  const int in_order[6] = {0, 1, 20, 21, 22, 30};
  CHECK(rank != 2 || memcmp(rooted, in_order, sizeof in_order) == 0);
  CHECK_OK(dfcclGroupDestroy(group));
  CHECK_OK(dfcclDestroy(ctx));
}

/* What a group has in flight ends on all its members, and nothing new begins. */
static void aborts(dfcclWorld_t world) {
  dfcclRankCtx_t ctx[2];
  dfcclGroup_t group[2], other[2];
  dfcclRequest_t given_up, kept[2], alone;
  float in[2] = {3, 4}, out[2] = {0, 0};
  const int both[] = {0, 1};
  for (int r = 0; r < 2; r++) {
    CHECK_OK(dfcclInitRank(world, r, &ctx[r]));
    CHECK_OK(dfcclGroupCreate(both, 2, 0, &group[r], ctx[r]));
    CHECK_OK(dfcclGroupCreate(both, 2, 1, &other[r], ctx[r]));
  }
  CHECK_OK(dfcclAllReduce(&in[0], &out[0], 1, dfcclFloat32, dfcclSum, group[0], 1, NULL, &given_up));
  CHECK_OK(dfcclAllReduce(&in[0], &out[0], 1, dfcclFloat32, dfcclSum, other[0], 1, NULL, &kept[0]));
  CHECK_OK(dfcclSend(&in[0], 1, dfcclFloat32, 0, group[0], 1, NULL, &alone));
  CHECK(dfcclDestroy(ctx[0]) == dfcclInUse);
  CHECK_OK(dfcclGroupAbort(group[0]));
  CHECK(dfcclWaitRun(given_up, 0) == dfcclAborted);
  CHECK(dfcclWaitRun(alone, 0) == dfcclAborted);
  CHECK(dfcclAllReduce(&in[0], &out[0], 1, dfcclFloat32, dfcclSum, group[0], 2, NULL, NULL) == dfcclAborted);
  CHECK_OK(dfcclAllReduce(&in[1], &out[1], 1, dfcclFloat32, dfcclSum, other[1], 1, NULL, &kept[1]));
  CHECK_OK(dfcclWaitRuns(kept, 2, 0));
  CHECK(out[0] == 7 && out[1] == 7);
  for (int r = 0; r < 2; r++) {
    CHECK_OK(dfcclGroupDestroy(group[r]));
    CHECK_OK(dfcclDestroy(ctx[r]));
  }
}

/* Who has given a group up isn't told to do so when what it had in flight isn't over yet: nobody has waited for that.
 */
static void given_up_and_in_flight(void) {
  dfcclWorld_t world = open_world(2, DFCCL_NO_WORKERS);
  dfcclRankCtx_t ctx = NULL;
  dfcclGroup_t group = NULL;
  dfcclRequest_t request = NULL;
  float in = 1, out = 0;
  CHECK_OK(dfcclInitRank(world, 0, &ctx));
  CHECK_OK(dfcclGroupCreate(NULL, 0, 0, &group, ctx));
  CHECK_OK(dfcclAllReduce(&in, &out, 1, dfcclFloat32, dfcclSum, group, 0, NULL, &request));
  CHECK(dfcclGroupDestroy(group) == dfcclInUse && strstr(dfcclGetLastError(), "dfcclGroupAbort") != NULL);
  CHECK_OK(dfcclGroupAbort(group));
  CHECK(dfcclGroupDestroy(group) == dfcclInUse && strstr(dfcclGetLastError(), "dfcclGroupAbort") == NULL);
  CHECK(dfcclWaitRun(request, 0) == dfcclAborted);
  CHECK_OK(dfcclGroupDestroy(group));
  CHECK_OK(dfcclDestroy(ctx));
  CHECK_OK(dfcclWorldDestroy(world));
}

/* Bytes of the heap that are in use, where the C library tells. */
static size_t heap_in_use(void) {
#if defined(__GLIBC__)
#if __GLIBC_PREREQ(2, 33)
  return mallinfo2().uordblks;
#endif
#endif
  return 0;
}

static void split_and_drop(dfcclGroup_t all, int times) {
  for (int i = 0; i < times; i++) {
    dfcclGroup_t part = NULL;
    CHECK_OK(dfcclGroupSplit(all, 0, 0, 0, &part));
    CHECK_OK(dfcclGroupDestroy(part));
  }
}

/* Nothing is kept of a split's part that is gone. */
static void splits_without_end(void) {
  enum { kSplits = 1000 };
  dfcclWorld_t world = open_world(1, DFCCL_NO_WORKERS);
  dfcclRankCtx_t ctx = NULL;
  dfcclGroup_t all = NULL;
  CHECK_OK(dfcclInitRank(world, 0, &ctx));
  CHECK_OK(dfcclGroupCreate(NULL, 0, 0, &all, ctx));
  split_and_drop(all, 2 * kSplits);
  const size_t before = heap_in_use();
  split_and_drop(all, kSplits);
  CHECK(heap_in_use() < before + 16 * kSplits);
  CHECK_OK(dfcclGroupDestroy(all));
  CHECK_OK(dfcclDestroy(ctx));
  CHECK_OK(dfcclWorldDestroy(world));
}

int main(void) {
  splits_without_end();
  a_thousand();
  given_up_and_in_flight();
  dfcclWorld_t world = open_world(kRanks, 1);
  on_threads(kRanks, split, world);
  on_threads(kRanks, uneven, world);
  aborts(world);
  CHECK_OK(dfcclWorldDestroy(world));
  return report();
}

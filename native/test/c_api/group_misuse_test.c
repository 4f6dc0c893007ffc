/* Every function on groups and requests with every kind of wrong argument. */
#include "c_api/misuse.h"

enum { kCount = 4, kRanks = 2 };

static dfcclWorld_t world;
static dfcclRankCtx_t ctx[kRanks];
static dfcclGroup_t closed_group, made;
static dfcclRequest_t closed_request, request;
static float in[2 * kCount], out[2 * kCount];
static const size_t counts[] = {1, 1};
static int number;

/* Right but for the group `g`, the tag `t` and the request `r`, which are the caller's. */
#define WITH_GROUP(X)                                                                                   \
  X(GroupSplit, dfcclGroupSplit(g, 0, 0, 1, &made))                                                     \
  X(GroupGetRank, dfcclGroupGetRank(&number, g))                                                        \
  X(GroupGetRankCount, dfcclGroupGetRankCount(&number, g))                                              \
  X(GroupRunInStreams, dfcclGroupRunInStreams(g, 0, 0, dfcclForAll))                                    \
  X(GroupAbort, dfcclGroupAbort(g))                                                                     \
  X(AllReduce, dfcclAllReduce(in, out, kCount, dfcclFloat32, dfcclSum, g, 0, NULL, &request))           \
  X(Reduce, dfcclReduce(in, out, kCount, dfcclFloat32, dfcclSum, 0, g, 0, NULL, &request))              \
  X(Broadcast, dfcclBroadcast(in, out, kCount, dfcclFloat32, 0, g, 0, NULL, &request))                  \
  X(AllGather, dfcclAllGather(in, out, kCount, dfcclFloat32, g, 0, NULL, &request))                     \
  X(ReduceScatter, dfcclReduceScatter(in, out, kCount, dfcclFloat32, dfcclSum, g, 0, NULL, &request))   \
  X(AllToAll, dfcclAllToAll(in, out, kCount, dfcclFloat32, g, 0, NULL, &request))                       \
  X(Gather, dfcclGather(in, out, kCount, dfcclFloat32, 0, g, 0, NULL, &request))                        \
  X(Scatter, dfcclScatter(in, out, kCount, dfcclFloat32, 0, g, 0, NULL, &request))                      \
  X(Barrier, dfcclBarrier(g, 0, NULL, &request))                                                        \
  X(Send, dfcclSend(in, kCount, dfcclFloat32, 1, g, 0, NULL, &request))                                 \
  X(Recv, dfcclRecv(out, kCount, dfcclFloat32, 1, g, 0, NULL, &request))                                \
  X(RecvAny, dfcclRecvAny(out, kCount, dfcclFloat32, &number, g, 0, &request))                          \
  X(AllToAllV, dfcclAllToAllV(in, counts, NULL, out, counts, NULL, dfcclFloat32, g, 0, NULL, &request)) \
  X(AllGatherV, dfcclAllGatherV(in, out, counts, NULL, dfcclFloat32, g, 0, NULL, &request))             \
  X(ReduceScatterV, dfcclReduceScatterV(in, out, counts, dfcclFloat32, dfcclSum, g, 0, NULL, &request)) \
  X(GatherV, dfcclGatherV(in, out, counts, NULL, dfcclFloat32, 0, g, 0, NULL, &request))                \
  X(ScatterV, dfcclScatterV(in, counts, NULL, out, dfcclFloat32, 0, g, 0, NULL, &request))
#define DEFINE(function, expression) \
  static dfcclResult_t with_##function(dfcclGroup_t g) { return expression; }
WITH_GROUP(DEFINE)
TABLE(WITH_GROUP, dfcclGroup_t, of_groups)
#undef DEFINE

static void groups(void) {
  const struct {
    const char* name;
    const void* value;
    int expected;
  } wrong[] = {{"no group", NULL, dfcclInvalidArgument},
               {"a destroyed group", closed_group, dfcclClosed},
               {"a context", ctx[0], dfcclClosed},
               {"an address", &number, dfcclClosed},
               {"the last address", (const void*)UINTPTR_MAX, dfcclClosed}};
  for (size_t f = 0; f < sizeof of_groups / sizeof *of_groups; f++) {
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
      request = closed_request;
      mark();
      const dfcclResult_t result = of_groups[f].call((dfcclGroup_t)(uintptr_t)wrong[i].value);
      expect_refused(of_groups[f].name, wrong[i].name, wrong[i].expected, result);
    }
  }
  CHECK_OK(dfcclGroupDestroy(NULL));
  for (size_t i = 1; i < sizeof wrong / sizeof *wrong; i++) {
    mark();
    const dfcclResult_t result = dfcclGroupDestroy((dfcclGroup_t)(uintptr_t)wrong[i].value);
    expect_refused("GroupDestroy", wrong[i].name, dfcclClosed, result);
  }
}

#define WITH_REQUEST(X)                             \
  X(WaitRun, dfcclWaitRun(r, 1))                    \
  X(WaitRuns, dfcclWaitRuns(&r, 1, 1))              \
  X(TestRun, dfcclTestRun(r, &number))              \
  X(NotifyRun, dfcclNotifyRun(r, ignore, NULL))     \
  X(WaitRunOnStream, dfcclWaitRunOnStream(r, NULL)) \
  X(IsRunCaptured, dfcclIsRunCaptured(r, &number))
static void ignore(void* nothing, dfcclResult_t status) {
  (void)nothing;
  (void)status;
}
#define DEFINE(function, expression) \
  static dfcclResult_t with_##function(dfcclRequest_t r) { return expression; }
WITH_REQUEST(DEFINE)
TABLE(WITH_REQUEST, dfcclRequest_t, of_requests)
#undef DEFINE

static void requests(void) {
  const struct {
    const char* name;
    const void* value;
    int expected;
  } wrong[] = {{"no request", NULL, dfcclInvalidArgument},
               {"one that was given back", closed_request, dfcclClosed},
               {"a context", ctx[0], dfcclClosed},
               {"an address", &number, dfcclClosed},
               {"the last address", (const void*)UINTPTR_MAX, dfcclClosed}};
  for (size_t f = 0; f < sizeof of_requests / sizeof *of_requests; f++) {
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
      mark();
      const dfcclResult_t result = of_requests[f].call((dfcclRequest_t)(uintptr_t)wrong[i].value);
      expect_refused(of_requests[f].name, wrong[i].name, wrong[i].expected, result);
    }
  }
  CHECK_OK(dfcclFreeRequest(NULL));
  for (size_t i = 1; i < sizeof wrong / sizeof *wrong; i++) {
    dfcclRequest_t one = (dfcclRequest_t)(uintptr_t)wrong[i].value;
    mark();
    expect_refused("FreeRequest", wrong[i].name, dfcclClosed, dfcclFreeRequest(one));
    mark();
    expect_refused("WaitAnyRun", wrong[i].name, dfcclClosed, dfcclWaitAnyRun(&one, 1, 1, &number));
  }
}

/* Without a batch of this thread. */
static void batches(void) {
  request = closed_request;
  mark();
  expect_refused("BatchEnd", "no batch", dfcclInvalidArgument, dfcclBatchEnd(&request));
  CHECK(request == NULL);
  mark();
  expect_refused("BatchCancel", "no batch", dfcclInvalidArgument, dfcclBatchCancel());
}

/* With a group that is right: what else can be wrong. */
#define WITH_ARGUMENTS(X)                                                                                \
  X(NoPlaceForGroup, dfcclGroupCreate(NULL, 0, 0, NULL, ctx[0]))                                         \
  X(CountBelow0, dfcclGroupCreate(NULL, -1, 0, &made, ctx[0]))                                           \
  X(CountBeyond, dfcclGroupCreate(outside, 3, 0, &made, ctx[0]))                                         \
  X(NoRanks, dfcclGroupCreate(NULL, 1, 0, &made, ctx[0]))                                                \
  X(RankBeyond, dfcclGroupCreate(outside, 2, 0, &made, ctx[0]))                                          \
  X(RankBelow0, dfcclGroupCreate(below, 2, 0, &made, ctx[0]))                                            \
  X(RankTwice, dfcclGroupCreate(twice, 2, 0, &made, ctx[0]))                                             \
  X(NotOneself, dfcclGroupCreate(other, 1, 0, &made, ctx[0]))                                            \
  X(NoPart, dfcclGroupSplit(g, 0, 0, 1, NULL))                                                           \
  X(NoRank, dfcclGroupGetRank(NULL, g))                                                                  \
  X(NoRankCount, dfcclGroupGetRankCount(NULL, g))                                                        \
  X(NoSend, dfcclAllReduce(NULL, out, kCount, dfcclFloat32, dfcclSum, g, 0, NULL, &request))             \
  X(NoRecv, dfcclAllReduce(in, NULL, kCount, dfcclFloat32, dfcclSum, g, 0, NULL, &request))              \
  X(Overlap, dfcclAllReduce(in, in + 1, kCount, dfcclFloat32, dfcclSum, g, 0, NULL, &request))           \
  X(TypeBeyond, dfcclAllReduce(in, out, kCount, (dfcclDataType_t)12, dfcclSum, g, 0, NULL, &request))    \
  X(TypeBelow0, dfcclAllReduce(in, out, kCount, (dfcclDataType_t)-1, dfcclSum, g, 0, NULL, &request))    \
  X(OpBeyond, dfcclAllReduce(in, out, kCount, dfcclFloat32, (dfcclRedOp_t)99, g, 0, NULL, &request))     \
  X(OpOfBits, dfcclAllReduce(in, out, kCount, dfcclFloat32, dfcclBitOr, g, 0, NULL, &request))           \
  X(OpOfNothing, dfcclReduceScatterV(in, out, zeros, dfcclFloat32, dfcclBitOr, g, 0, NULL, &request))    \
  X(OpScaled, dfcclAllReduce(in, out, kCount, dfcclFloat32, dfcclScaledSum, g, 0, NULL, &request))       \
  X(HugeCount, dfcclAllReduce(in, out, SIZE_MAX, dfcclFloat32, dfcclSum, g, 0, NULL, &request))          \
  X(HugeProduct, dfcclAllGather(in, out, SIZE_MAX / 4, dfcclFloat32, g, 0, NULL, &request))              \
  X(RootBeyond, dfcclBroadcast(in, out, kCount, dfcclFloat32, kRanks, g, 0, NULL, &request))             \
  X(RootBelow0, dfcclReduce(in, out, kCount, dfcclFloat32, dfcclSum, -1, g, 0, NULL, &request))          \
  X(PeerBeyond, dfcclSend(in, kCount, dfcclFloat32, kRanks, g, 0, NULL, &request))                       \
  X(PeerBelow0, dfcclRecv(in, kCount, dfcclFloat32, INT_MIN, g, 0, NULL, &request))                      \
  X(NoMessage, dfcclSend(NULL, kCount, dfcclFloat32, 1, g, 0, NULL, &request))                           \
  X(NoMessageToSelf, dfcclRecv(NULL, kCount, dfcclFloat32, 0, g, 0, NULL, &request))                     \
  X(NoMessageFromAny, dfcclRecvAny(NULL, kCount, dfcclFloat32, &number, g, 0, &request))                 \
  X(HugeFromAny, dfcclRecvAny(out, SIZE_MAX, dfcclFloat32, &number, g, 0, &request))                     \
  X(NoCounts, dfcclAllToAllV(in, NULL, NULL, out, counts, NULL, dfcclFloat32, g, 0, NULL, &request))     \
  X(OwnDiffers, dfcclAllToAllV(in, counts, NULL, out, threes, NULL, dfcclFloat32, g, 0, NULL, &request)) \
  X(CountsOverflow, dfcclAllGatherV(in, out, huge, NULL, dfcclFloat32, g, 0, NULL, &request))            \
  X(PlacesOverflow, dfcclAllGatherV(in, out, counts, huge, dfcclFloat32, g, 0, NULL, &request))          \
  X(NoBuffer, dfcclAllGatherV(NULL, out, counts, NULL, dfcclFloat32, g, 0, NULL, &request))              \
  X(UnevenRoot, dfcclGatherV(in, out, counts, NULL, dfcclFloat32, 2, g, 0, NULL, &request))              \
  X(NoIndex, dfcclWaitAnyRun(NULL, 0, 1, NULL))                                                          \
  X(ListBelow0, dfcclWaitRuns(NULL, -1, 1))                                                              \
  X(NoList, dfcclWaitAnyRun(NULL, 1, 1, &number))
static const int outside[] = {0, kRanks, 1}, below[] = {0, -1}, twice[] = {0, 0}, other[] = {1};
static const size_t huge[] = {SIZE_MAX / 2, SIZE_MAX / 2}, threes[] = {3, 3}, zeros[] = {0, 0};
#define DEFINE(function, expression)                     \
  static dfcclResult_t with_##function(dfcclGroup_t g) { \
    (void)g;                                             \
    return expression;                                   \
  }
WITH_ARGUMENTS(DEFINE)
TABLE(WITH_ARGUMENTS, dfcclGroup_t, of_arguments)
#undef DEFINE

static void arguments(dfcclGroup_t group) {
  for (size_t f = 0; f < sizeof of_arguments / sizeof *of_arguments; f++) {
    made = closed_group;
    request = closed_request;
    mark();
    expect_refused(of_arguments[f].name, "it", dfcclInvalidArgument, of_arguments[f].call(group));
    CHECK(made == NULL || made == closed_group);
    CHECK(request == NULL || request == closed_request);
  }
}

int main(void) {
  world = open_world(kRanks, DFCCL_NO_WORKERS);
  dfcclGroup_t group;
  for (int r = 0; r < kRanks; r++) CHECK_OK(dfcclInitRank(world, r, &ctx[r]));
  CHECK_OK(dfcclGroupCreate(NULL, 0, 0, &closed_group, ctx[0]));
  CHECK_OK(dfcclSend(in, 1, dfcclFloat32, 0, closed_group, 0, NULL, &closed_request));
  CHECK_OK(dfcclRecv(out, 1, dfcclFloat32, 0, closed_group, 0, NULL, NULL));
  CHECK_OK(dfcclWaitRun(closed_request, 0));
  CHECK_OK(dfcclGroupDestroy(closed_group));
  CHECK_OK(dfcclGroupCreate(NULL, 0, 1, &group, ctx[0]));

  groups();
  requests();
  batches();
  arguments(group);

  /* Nothing of it was taken. */
  CHECK_OK(dfcclGroupDestroy(group));
  dfcclCounters_t counters = {.structSize = sizeof counters};
  CHECK_OK(dfcclGetCounters(&counters, ctx[0]));
  CHECK(counters.collectiveBytes == 0 && counters.runsInFlight == 0);
  for (int r = 0; r < kRanks; r++) CHECK_OK(dfcclDestroy(ctx[r]));
  CHECK_OK(dfcclWorldDestroy(world));
  return report();
}

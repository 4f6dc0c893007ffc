/* Every function of the C API with every kind of wrong argument: a status and a message, and nothing that crashes,
 * hangs or changes. Each table lists the functions that take one kind of argument, each as a call that is right but for
 * it. That none is missing, the check "c library" of `npm test` looks after. */
#include <limits.h>
#include <stdint.h>
#include <unistd.h>

#include "c_api/check.h"

enum { kCount = 4, kId = 1, kRanks = 2 };

static dfcclWorld_t world;
static dfcclRankCtx_t closed;
static int number, ranks[kRanks];
static void* memory;
static float* send;
static float* recv;
static const int both[] = {0, 1};
static const char program[16];

/* What a call is expected to be refused with; kAny: with whatever, but refused. */
enum { kAny = -1 };

/* Before a call, so that what it says is not what another one said. */
static const char* const kMark = "The address for the version is null.";
static void mark(void) { CHECK(dfcclGetVersion(NULL) == dfcclInvalidArgument); }

static void expect_refused(const char* function, const char* argument, int expected, dfcclResult_t result) {
  const char* message = dfcclGetLastError();
  const int is_told = strlen(message) > 20 && strncmp(message, kMark, strlen(kMark)) != 0;
  const int is_refused = expected == kAny ? result != dfcclSuccess : (int)result == expected;
  if (is_told && is_refused) {
    CHECK(1);
    return;
  }
  fprintf(stderr, "%s with %s: %s (%s)\n", function, argument, dfcclGetErrorString(result), message);
  CHECK(!"it is refused with a message, as expected");
}

#define NAMED(function, call) {#function, with_##function},
/* DEFINE makes the functions of a table, whose parameters are `c`, the context, and `x`, the argument. */
#define TABLE(list, type, table) \
  static const struct {          \
    const char* name;            \
    dfcclResult_t (*call)(type); \
  } table[] = {list(NAMED)};

/* ---- Contexts ------------------------------------------------------------------------------------------------ */

#define WITH_CONTEXT(X)                                                                                          \
  X(Allocate, dfcclAllocate(16, &memory, c))                                                                     \
  X(Free, dfcclFree(recv, 16, c))                                                                                \
  X(FreeNothing, dfcclFree(NULL, 16, c))                                                                         \
  X(GetLostRanks, dfcclGetLostRanks(ranks, kRanks, &number, c))                                                  \
  X(AgreeOnSurvivors, dfcclAgreeOnSurvivors(1, ranks, kRanks, &number, c))                                       \
  X(GetDevice, dfcclGetDevice(&number, c))                                                                       \
  X(GetRank, dfcclGetRank(&number, c))                                                                           \
  X(GetRankCount, dfcclGetRankCount(&number, c))                                                                 \
  X(GetLocalRank, dfcclGetLocalRank(&number, c))                                                                 \
  X(GetLocalRankCount, dfcclGetLocalRankCount(&number, c))                                                       \
  X(GetHost, dfcclGetHost(&number, c))                                                                           \
  X(GetHostCount, dfcclGetHostCount(&number, c))                                                                 \
  X(RegisterAllReduce, dfcclRegisterAllReduce(kCount, dfcclFloat32, dfcclSum, 9, dfcclAllRanks(), 0, c))         \
  X(RegisterAllGather, dfcclRegisterAllGather(kCount, dfcclFloat32, 9, dfcclAllRanks(), 0, c))                   \
  X(RegisterReduceScatter, dfcclRegisterReduceScatter(kCount, dfcclFloat32, dfcclSum, 9, dfcclAllRanks(), 0, c)) \
  X(RegisterReduce, dfcclRegisterReduce(kCount, dfcclFloat32, dfcclSum, 0, 9, dfcclAllRanks(), 0, c))            \
  X(RegisterBroadcast, dfcclRegisterBroadcast(kCount, dfcclFloat32, 0, 9, dfcclAllRanks(), 0, c))                \
  X(RegisterAllToAll, dfcclRegisterAllToAll(kCount, dfcclFloat32, 9, dfcclAllRanks(), 0, c))                     \
  X(RegisterGather, dfcclRegisterGather(kCount, dfcclFloat32, 0, 9, dfcclAllRanks(), 0, c))                      \
  X(RegisterScatter, dfcclRegisterScatter(kCount, dfcclFloat32, 0, 9, dfcclAllRanks(), 0, c))                    \
  X(RegisterSendRecv, dfcclRegisterSendRecv(kCount, dfcclFloat32, 0, 9, (dfcclDevSet_t){both, 2}, 0, c))         \
  X(RegisterBarrier, dfcclRegisterBarrier(9, dfcclAllRanks(), 0, c))                                             \
  X(RegisterProgram,                                                                                             \
    dfcclRegisterProgram(program, sizeof program, kCount, dfcclFloat32, dfcclSum, 9, dfcclAllRanks(), 0, c))     \
  X(SetScale, dfcclSetScale(1, c))                                                                               \
  X(Unregister, dfcclUnregister(kId, c))                                                                         \
  X(Abort, dfcclAbort(kId, c))                                                                                   \
  X(IsQuarantineOver, dfcclIsQuarantineOver(kId, &number, c))                                                    \
  X(Run, dfcclRun(send, recv, kId, NULL, NULL, c))                                                               \
  X(RunAllReduce, dfcclRunAllReduce(send, recv, kId, NULL, NULL, c))                                             \
  X(RunAllGather, dfcclRunAllGather(send, recv, kId, NULL, NULL, c))                                             \
  X(RunReduceScatter, dfcclRunReduceScatter(send, recv, kId, NULL, NULL, c))                                     \
  X(RunReduce, dfcclRunReduce(send, recv, kId, NULL, NULL, c))                                                   \
  X(RunBroadcast, dfcclRunBroadcast(send, recv, kId, NULL, NULL, c))                                             \
  X(RunAllToAll, dfcclRunAllToAll(send, recv, kId, NULL, NULL, c))                                               \
  X(RunGather, dfcclRunGather(send, recv, kId, NULL, NULL, c))                                                   \
  X(RunScatter, dfcclRunScatter(send, recv, kId, NULL, NULL, c))                                                 \
  X(RunSendRecv, dfcclRunSendRecv(send, recv, kId, NULL, NULL, c))                                               \
  X(RunBarrier, dfcclRunBarrier(kId, NULL, NULL, c))                                                             \
  X(RunOnStream, dfcclRunOnStream(send, recv, kId, NULL, NULL, NULL, c))                                         \
  X(WaitOnStream, dfcclWaitOnStream(kId, NULL, c))                                                               \
  X(RunProgram, dfcclRunProgram(send, recv, kId, NULL, NULL, c))                                                 \
  X(Wait, dfcclWait(c))                                                                                          \
  X(WaitFor, dfcclWaitFor(1, c))                                                                                 \
  X(WaitAll, dfcclWaitAll(&c, 1))                                                                                \
  X(Poll, dfcclPoll(&number, c))                                                                                 \
  X(Synchronize, dfcclSynchronize(c))                                                                            \
  X(GetCounters, dfcclGetCounters(&(dfcclCounters_t){.structSize = sizeof(dfcclCounters_t)}, c))                 \
  X(WriteTrace, dfcclWriteTrace("/dev/null", &c, 1))                                                             \
  X(WriteFlightRecord, dfcclWriteFlightRecord("/dev/null", c))                                                   \
  X(Describe, dfcclDescribe((char[64]){0}, 64, c))

#define DEFINE(function, expression) \
  static dfcclResult_t with_##function(dfcclRankCtx_t c) { return expression; }
WITH_CONTEXT(DEFINE)
TABLE(WITH_CONTEXT, dfcclRankCtx_t, of_contexts)
#undef DEFINE

static void contexts(void) {
  const struct {
    const char* name;
    const void* value;
    int expected;
  } wrong[] = {{"no context", NULL, dfcclInvalidArgument},
               {"a closed context", closed, dfcclClosed},
               {"a world", world, dfcclClosed},
               {"an address", &number, dfcclClosed},
               {"the last address", (const void*)UINTPTR_MAX, dfcclClosed},
               {"a small number", (const void*)(uintptr_t)1, dfcclClosed}};
  for (size_t f = 0; f < sizeof of_contexts / sizeof *of_contexts; f++) {
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
      mark();
      const dfcclResult_t result = of_contexts[f].call((dfcclRankCtx_t)(uintptr_t)wrong[i].value);
      expect_refused(of_contexts[f].name, wrong[i].name, wrong[i].expected, result);
    }
  }
  /* These take none for nothing. */
  CHECK_OK(dfcclDestroy(NULL));
  CHECK_OK(dfcclWorldDestroy(NULL));
  for (size_t i = 1; i < sizeof wrong / sizeof *wrong; i++) {
    mark();
    expect_refused("Destroy", wrong[i].name, dfcclClosed, dfcclDestroy((dfcclRankCtx_t)(uintptr_t)wrong[i].value));
  }
}

static void worlds(dfcclRankCtx_t c) {
  const void* const wrong[] = {c, closed, &number, (const void*)UINTPTR_MAX, (const void*)(uintptr_t)1};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    const dfcclWorld_t not_one = (dfcclWorld_t)(uintptr_t)wrong[i];
    dfcclRankCtx_t made = closed;
    mark();
    expect_refused("InitRank", "no world", dfcclClosed, dfcclInitRank(not_one, 0, &made));
    CHECK(made == NULL);
    mark();
    expect_refused("WorldDestroy", "no world", dfcclClosed, dfcclWorldDestroy(not_one));
  }
}

/* ---- Addresses for results ----------------------------------------------------------------------------------- */

#define WITH_ADDRESS(X)                                         \
  X(NoAllocate, dfcclAllocate(16, NULL, c))                     \
  X(NoLostRanks, dfcclGetLostRanks(NULL, kRanks, &number, c))   \
  X(NoLostCount, dfcclGetLostRanks(ranks, kRanks, NULL, c))     \
  X(LostRanksBelow0, dfcclGetLostRanks(ranks, -1, &number, c))  \
  X(NoSurvivors, dfcclAgreeOnSurvivors(1, NULL, 2, &number, c)) \
  X(NoCount, dfcclAgreeOnSurvivors(1, ranks, kRanks, NULL, c))  \
  X(Below0, dfcclAgreeOnSurvivors(1, ranks, -1, &number, c))    \
  X(NoDevice, dfcclGetDevice(NULL, c))                          \
  X(NoRank, dfcclGetRank(NULL, c))                              \
  X(NoRankCount, dfcclGetRankCount(NULL, c))                    \
  X(NoLocalRank, dfcclGetLocalRank(NULL, c))                    \
  X(NoLocalRankCount, dfcclGetLocalRankCount(NULL, c))          \
  X(NoHost, dfcclGetHost(NULL, c))                              \
  X(NoHostCount, dfcclGetHostCount(NULL, c))                    \
  X(NoAnswer, dfcclIsQuarantineOver(kId, NULL, c))              \
  X(NoList, dfcclWaitAll(NULL, 1))                              \
  X(ListBelow0, dfcclWaitAll(&c, -1))                           \
  X(HugeList, dfcclWaitAll(&c, INT_MAX))                        \
  X(NoCounters, dfcclGetCounters(NULL, c))                      \
  X(NoSize, dfcclGetCounters(&(dfcclCounters_t){0}, c))         \
  X(NoPath, dfcclWriteTrace(NULL, &c, 1))                       \
  X(NoTraced, dfcclWriteTrace("/dev/null", NULL, 1))            \
  X(HugeTrace, dfcclWriteTrace("/dev/null", &c, INT_MAX))       \
  X(NoTraceFor0, dfcclWriteTrace("/dev/null", &c, 0))           \
  X(NoRecord, dfcclWriteFlightRecord(NULL, c))                  \
  X(EmptyRecord, dfcclWriteFlightRecord("", c))                 \
  X(NoText, dfcclDescribe(NULL, 64, c))                         \
  X(NoRoomForText, dfcclDescribe((char[64]){0}, 0, c))          \
  X(NoWorld, dfcclInitRank(NULL, 0, &closed_again))             \
  X(NoContext, dfcclInitRank(world, 0, NULL))                   \
  X(NoDefault, dfcclInit(NULL, 0))

static dfcclRankCtx_t closed_again;
#define DEFINE(function, expression)                       \
  static dfcclResult_t with_##function(dfcclRankCtx_t c) { \
    (void)c;                                               \
    return expression;                                     \
  }
WITH_ADDRESS(DEFINE)
TABLE(WITH_ADDRESS, dfcclRankCtx_t, of_addresses)
#undef DEFINE

static void addresses(dfcclRankCtx_t c) {
  for (size_t f = 0; f < sizeof of_addresses / sizeof *of_addresses; f++) {
    mark();
    expect_refused(of_addresses[f].name, "no address", dfcclInvalidArgument, of_addresses[f].call(c));
  }
}

/* ---- Numbers of collectives ---------------------------------------------------------------------------------- */

struct of_rank {
  dfcclRankCtx_t c;
  int x;
};

#define WITH_ID(X)                                                           \
  X(UnregisterId, dfcclUnregister(x, c))                                     \
  X(AbortId, dfcclAbort(x, c))                                               \
  X(IsQuarantineOverId, dfcclIsQuarantineOver(x, &number, c))                \
  X(RunId, dfcclRun(send, recv, x, NULL, NULL, c))                           \
  X(RunAllReduceId, dfcclRunAllReduce(send, recv, x, NULL, NULL, c))         \
  X(RunAllGatherId, dfcclRunAllGather(send, recv, x, NULL, NULL, c))         \
  X(RunReduceScatterId, dfcclRunReduceScatter(send, recv, x, NULL, NULL, c)) \
  X(RunReduceId, dfcclRunReduce(send, recv, x, NULL, NULL, c))               \
  X(RunBroadcastId, dfcclRunBroadcast(send, recv, x, NULL, NULL, c))         \
  X(RunAllToAllId, dfcclRunAllToAll(send, recv, x, NULL, NULL, c))           \
  X(RunGatherId, dfcclRunGather(send, recv, x, NULL, NULL, c))               \
  X(RunScatterId, dfcclRunScatter(send, recv, x, NULL, NULL, c))             \
  X(RunSendRecvId, dfcclRunSendRecv(send, recv, x, NULL, NULL, c))           \
  X(RunBarrierId, dfcclRunBarrier(x, NULL, NULL, c))                         \
  X(RunProgramId, dfcclRunProgram(send, recv, x, NULL, NULL, c))             \
  X(RunOnStreamId, dfcclRunOnStream(send, recv, x, NULL, NULL, NULL, c))     \
  X(WaitOnStreamId, dfcclWaitOnStream(x, NULL, c))

#define WITH_NEW_ID(X)                                                                                     \
  X(AllReduceId, dfcclRegisterAllReduce(kCount, dfcclFloat32, dfcclSum, x, dfcclAllRanks(), 0, c))         \
  X(AllGatherId, dfcclRegisterAllGather(kCount, dfcclFloat32, x, dfcclAllRanks(), 0, c))                   \
  X(ReduceScatterId, dfcclRegisterReduceScatter(kCount, dfcclFloat32, dfcclSum, x, dfcclAllRanks(), 0, c)) \
  X(ReduceId, dfcclRegisterReduce(kCount, dfcclFloat32, dfcclSum, 0, x, dfcclAllRanks(), 0, c))            \
  X(BroadcastId, dfcclRegisterBroadcast(kCount, dfcclFloat32, 0, x, dfcclAllRanks(), 0, c))                \
  X(AllToAllId, dfcclRegisterAllToAll(kCount, dfcclFloat32, x, dfcclAllRanks(), 0, c))                     \
  X(GatherId, dfcclRegisterGather(kCount, dfcclFloat32, 0, x, dfcclAllRanks(), 0, c))                      \
  X(ScatterId, dfcclRegisterScatter(kCount, dfcclFloat32, 0, x, dfcclAllRanks(), 0, c))                    \
  X(SendRecvId, dfcclRegisterSendRecv(kCount, dfcclFloat32, 0, x, (dfcclDevSet_t){both, 2}, 0, c))         \
  X(BarrierId, dfcclRegisterBarrier(x, dfcclAllRanks(), 0, c))

#define WITH_TYPE(X)                                                                                               \
  X(AllReduceType, dfcclRegisterAllReduce(kCount, (dfcclDataType_t)x, dfcclSum, 9, dfcclAllRanks(), 0, c))         \
  X(AllGatherType, dfcclRegisterAllGather(kCount, (dfcclDataType_t)x, 9, dfcclAllRanks(), 0, c))                   \
  X(ReduceScatterType, dfcclRegisterReduceScatter(kCount, (dfcclDataType_t)x, dfcclSum, 9, dfcclAllRanks(), 0, c)) \
  X(ReduceType, dfcclRegisterReduce(kCount, (dfcclDataType_t)x, dfcclSum, 0, 9, dfcclAllRanks(), 0, c))            \
  X(BroadcastType, dfcclRegisterBroadcast(kCount, (dfcclDataType_t)x, 0, 9, dfcclAllRanks(), 0, c))                \
  X(AllToAllType, dfcclRegisterAllToAll(kCount, (dfcclDataType_t)x, 9, dfcclAllRanks(), 0, c))                     \
  X(GatherType, dfcclRegisterGather(kCount, (dfcclDataType_t)x, 0, 9, dfcclAllRanks(), 0, c))                      \
  X(ScatterType, dfcclRegisterScatter(kCount, (dfcclDataType_t)x, 0, 9, dfcclAllRanks(), 0, c))                    \
  X(SendRecvType, dfcclRegisterSendRecv(kCount, (dfcclDataType_t)x, 0, 9, (dfcclDevSet_t){both, 2}, 0, c))         \
  X(AllReduceOp, dfcclRegisterAllReduce(kCount, dfcclFloat32, (dfcclRedOp_t)x, 9, dfcclAllRanks(), 0, c))          \
  X(ReduceScatterOp, dfcclRegisterReduceScatter(kCount, dfcclFloat32, (dfcclRedOp_t)x, 9, dfcclAllRanks(), 0, c))  \
  X(ReduceOp, dfcclRegisterReduce(kCount, dfcclFloat32, (dfcclRedOp_t)x, 0, 9, dfcclAllRanks(), 0, c))             \
  X(ReduceRoot, dfcclRegisterReduce(kCount, dfcclFloat32, dfcclSum, x, 9, dfcclAllRanks(), 0, c))                  \
  X(BroadcastRoot, dfcclRegisterBroadcast(kCount, dfcclFloat32, x, 9, dfcclAllRanks(), 0, c))                      \
  X(GatherRoot, dfcclRegisterGather(kCount, dfcclFloat32, x, 9, dfcclAllRanks(), 0, c))                            \
  X(ScatterRoot, dfcclRegisterScatter(kCount, dfcclFloat32, x, 9, dfcclAllRanks(), 0, c))                          \
  X(Sender, dfcclRegisterSendRecv(kCount, dfcclFloat32, x, 9, (dfcclDevSet_t){both, 2}, 0, c))                     \
  X(InitRankRank, dfcclInitRank(world, x, &closed_again))                                                          \
  X(InitRank, dfcclInit(&closed_again, x))

#define DEFINE(function, expression)                        \
  static dfcclResult_t with_##function(struct of_rank of) { \
    const dfcclRankCtx_t c = of.c;                          \
    const int x = of.x;                                     \
    (void)c;                                                \
    return expression;                                      \
  }
WITH_ID(DEFINE)
WITH_NEW_ID(DEFINE)
WITH_TYPE(DEFINE)
TABLE(WITH_ID, struct of_rank, of_ids)
TABLE(WITH_NEW_ID, struct of_rank, of_new_ids)
TABLE(WITH_TYPE, struct of_rank, of_types)
#undef DEFINE

static void numbers(dfcclRankCtx_t c) {
  const int unknown[] = {-1, INT_MIN, INT_MAX, 12345};
  const int negative[] = {-1, INT_MIN};
  const int far[] = {-1, INT_MIN, INT_MAX, 100};
  for (size_t f = 0; f < sizeof of_ids / sizeof *of_ids; f++) {
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
      mark();
      const dfcclResult_t result = of_ids[f].call((struct of_rank){c, unknown[i]});
      expect_refused(of_ids[f].name, "an unknown id", dfcclUnknownCollective, result);
    }
  }
  for (size_t f = 0; f < sizeof of_new_ids / sizeof *of_new_ids; f++) {
    for (size_t i = 0; i < sizeof negative / sizeof *negative; i++) {
      mark();
      const dfcclResult_t result = of_new_ids[f].call((struct of_rank){c, negative[i]});
      expect_refused(of_new_ids[f].name, "a negative id", dfcclInvalidArgument, result);
    }
  }
  for (size_t f = 0; f < sizeof of_types / sizeof *of_types; f++) {
    for (size_t i = 0; i < sizeof far / sizeof *far; i++) {
      mark();
      const dfcclResult_t result = of_types[f].call((struct of_rank){c, far[i]});
      expect_refused(of_types[f].name, "a number outside", dfcclInvalidArgument, result);
    }
  }
}

/* ---- Ranks that take part, and sizes ------------------------------------------------------------------------- */

struct of_set {
  dfcclRankCtx_t c;
  dfcclDevSet_t x;
};

#define WITH_SET(X)                                                                           \
  X(AllReduceSet, dfcclRegisterAllReduce(kCount, dfcclFloat32, dfcclSum, 9, x, 0, c))         \
  X(AllGatherSet, dfcclRegisterAllGather(kCount, dfcclFloat32, 9, x, 0, c))                   \
  X(ReduceScatterSet, dfcclRegisterReduceScatter(kCount, dfcclFloat32, dfcclSum, 9, x, 0, c)) \
  X(ReduceSet, dfcclRegisterReduce(kCount, dfcclFloat32, dfcclSum, 0, 9, x, 0, c))            \
  X(BroadcastSet, dfcclRegisterBroadcast(kCount, dfcclFloat32, 0, 9, x, 0, c))                \
  X(AllToAllSet, dfcclRegisterAllToAll(kCount, dfcclFloat32, 9, x, 0, c))                     \
  X(GatherSet, dfcclRegisterGather(kCount, dfcclFloat32, 0, 9, x, 0, c))                      \
  X(ScatterSet, dfcclRegisterScatter(kCount, dfcclFloat32, 0, 9, x, 0, c))                    \
  X(SendRecvSet, dfcclRegisterSendRecv(kCount, dfcclFloat32, 0, 9, x, 0, c))                  \
  X(BarrierSet, dfcclRegisterBarrier(9, x, 0, c))

#define DEFINE(function, expression)                       \
  static dfcclResult_t with_##function(struct of_set of) { \
    const dfcclRankCtx_t c = of.c;                         \
    const dfcclDevSet_t x = of.x;                          \
    return expression;                                     \
  }
WITH_SET(DEFINE)
TABLE(WITH_SET, struct of_set, of_sets)
#undef DEFINE

struct of_size {
  dfcclRankCtx_t c;
  size_t x;
};

#define WITH_SIZE(X)                                                                                          \
  X(AllocateSize, dfcclAllocate(x, &memory, c))                                                               \
  X(FreeSize, dfcclFree(recv, x, c))                                                                          \
  X(FreeNothingSize, dfcclFree(NULL, x, c))                                                                   \
  X(AllReduceCount, dfcclRegisterAllReduce(x, dfcclFloat32, dfcclSum, 9, dfcclAllRanks(), 0, c))              \
  X(AllGatherCount, dfcclRegisterAllGather(x, dfcclFloat32, 9, dfcclAllRanks(), 0, c))                        \
  X(ReduceScatterCount, dfcclRegisterReduceScatter(x, dfcclFloat32, dfcclSum, 9, dfcclAllRanks(), 0, c))      \
  X(ReduceCount, dfcclRegisterReduce(x, dfcclFloat32, dfcclSum, 0, 9, dfcclAllRanks(), 0, c))                 \
  X(BroadcastCount, dfcclRegisterBroadcast(x, dfcclFloat32, 0, 9, dfcclAllRanks(), 0, c))                     \
  X(AllToAllCount, dfcclRegisterAllToAll(x, dfcclFloat32, 9, dfcclAllRanks(), 0, c))                          \
  X(GatherCount, dfcclRegisterGather(x, dfcclFloat32, 0, 9, dfcclAllRanks(), 0, c))                           \
  X(ScatterCount, dfcclRegisterScatter(x, dfcclFloat32, 0, 9, dfcclAllRanks(), 0, c))                         \
  X(SendRecvCount, dfcclRegisterSendRecv(x, dfcclFloat32, 0, 9, (dfcclDevSet_t){both, 2}, 0, c))              \
  X(ProgramBytes, dfcclRegisterProgram(program, x, kCount, dfcclFloat32, dfcclSum, 9, dfcclAllRanks(), 0, c)) \
  X(NoProgram, dfcclRegisterProgram(NULL, x, kCount, dfcclFloat32, dfcclSum, 9, dfcclAllRanks(), 0, c))

#define DEFINE(function, expression)                        \
  static dfcclResult_t with_##function(struct of_size of) { \
    const dfcclRankCtx_t c = of.c;                          \
    const size_t x = of.x;                                  \
    return expression;                                      \
  }
WITH_SIZE(DEFINE)
TABLE(WITH_SIZE, struct of_size, of_sizes)
#undef DEFINE

static void sets_and_sizes(dfcclRankCtx_t c) {
  static const int twice[] = {0, 0}, far[] = {0, 100}, negative[] = {0, -1}, other[] = {1}, least[] = {INT_MIN, 0};
  const dfcclDevSet_t wrong[] = {{NULL, 1},       {NULL, -1},      {NULL, INT_MAX}, {both, -1},
                                 {both, INT_MIN}, {both, INT_MAX}, {both, 1000},    {twice, 2},
                                 {far, 2},        {negative, 2},   {other, 1},      {least, 2}};
  for (size_t f = 0; f < sizeof of_sets / sizeof *of_sets; f++) {
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
      mark();
      expect_refused(of_sets[f].name, "a wrong set", dfcclInvalidArgument,
                     of_sets[f].call((struct of_set){c, wrong[i]}));
    }
  }
  const size_t huge[] = {SIZE_MAX, SIZE_MAX - 1, SIZE_MAX / 2, SIZE_MAX / 4 + 1, (size_t)1 << 60};
  for (size_t f = 0; f < sizeof of_sizes / sizeof *of_sizes; f++) {
    for (size_t i = 0; i < sizeof huge / sizeof *huge; i++) {
      mark();
      expect_refused(of_sizes[f].name, "a huge size", kAny, of_sizes[f].call((struct of_size){c, huge[i]}));
    }
  }
}

/* What says that it is a program, and how long it is, is read no further than it says. */
static void programs(dfcclRankCtx_t c) {
  uint32_t header[24] = {0x50434644, 1, sizeof header};
  const size_t sizes[] = {sizeof header, sizeof header + 1, 4096, (size_t)1 << 20, (size_t)1 << 30};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    mark();
    expect_refused("RegisterProgram", "a wrong size", dfcclInvalidProgram,
                   dfcclRegisterProgram(header, sizes[i], kCount, dfcclFloat32, dfcclSum, 9, dfcclAllRanks(), 0, c));
  }
}

/* ---- Memory -------------------------------------------------------------------------------------------------- */

static void memories(dfcclRankCtx_t c, dfcclRankCtx_t elsewhere) {
  char own[64];
  void *mine = NULL, *theirs = NULL;
  CHECK_OK(dfcclAllocate(64, &mine, c));
  CHECK_OK(dfcclAllocate(64, &theirs, elsewhere));
  const struct {
    const char* name;
    void* memory;
    size_t bytes;
  } wrong[] = {{"memory of the caller's own", own, sizeof own},
               {"a part of it", (char*)mine + 16, 16},
               {"another world's", theirs, 64},
               {"fewer bytes", mine, 63},
               {"more bytes", mine, 128},
               {"no bytes", mine, 0},
               {"an address that is none", (void*)(uintptr_t)8, 64},
               {"the last address", (void*)UINTPTR_MAX, 64}};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    mark();
    expect_refused("Free", wrong[i].name, dfcclInvalidArgument, dfcclFree(wrong[i].memory, wrong[i].bytes, c));
  }
  memset(mine, 1, 64); /* nothing was freed */
  CHECK_OK(dfcclFree(mine, 64, c));
  mark();
  expect_refused("Free", "what is free already", dfcclInvalidArgument, dfcclFree(mine, 64, c));
  CHECK_OK(dfcclFree(theirs, 64, elsewhere));
}

/* Runs of what is registered, with addresses at which nothing can be. */
static void buffers(dfcclRankCtx_t c) {
  const struct {
    const char* name;
    const void* send;
    void* recv;
  } wrong[] = {{"nothing to send", NULL, recv},
               {"nowhere to receive", send, NULL},
               {"neither", NULL, NULL},
               {"an address of more than 48 bits", (const void*)(UINTPTR_MAX - 4095), recv},
               {"the last address to receive at", send, (void*)(UINTPTR_MAX - 3)},
               {"two that overlap", send, send + 1}};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    mark();
    expect_refused("Run", wrong[i].name, dfcclInvalidArgument,
                   dfcclRun(wrong[i].send, wrong[i].recv, kId, NULL, NULL, c));
    mark();
    expect_refused("RunAllReduce", wrong[i].name, dfcclInvalidArgument,
                   dfcclRunAllReduce(wrong[i].send, wrong[i].recv, kId, NULL, NULL, c));
    mark();
    expect_refused("RunOnStream", wrong[i].name, kAny,
                   dfcclRunOnStream(wrong[i].send, wrong[i].recv, kId, NULL, NULL, NULL, c));
  }
  CHECK_OK(dfcclWait(c)); /* nothing was queued */
}

/* ---- Configs ------------------------------------------------------------------------------------------------- */

#define WORLD_FIELDS(X)          \
  X(structSize, 0)               \
  X(structSize, 1)               \
  X(structSize, SIZE_MAX)        \
  X(structSize, 1 << 20)         \
  X(ranks, 0)                    \
  X(ranks, 1025)                 \
  X(ranks, UINT32_MAX)           \
  X(workers, INT32_MIN)          \
  X(workers, -2)                 \
  X(workers, INT32_MAX)          \
  X(grid, UINT32_MAX)            \
  X(submissionSlots, 3)          \
  X(submissionSlots, UINT32_MAX) \
  X(completionSlots, 3)          \
  X(completionSlots, UINT32_MAX) \
  X(collectives, UINT32_MAX)     \
  X(programBlocks, 1)            \
  X(programBlocks, UINT32_MAX)   \
  X(arenaBytes, SIZE_MAX)        \
  X(backend, 3)                  \
  X(backend, UINT32_MAX)         \
  X(slotPayloadBytes, SIZE_MAX)

static void configs(void) {
  dfcclWorld_t made = world;
#define TRY(field, value)                                                                     \
  {                                                                                           \
    dfcclWorldConfig_t config = DFCCL_WORLD_CONFIG_INIT;                                      \
    config.ranks = 2;                                                                         \
    config.field = value;                                                                     \
    mark();                                                                                   \
    expect_refused("WorldCreate", #field " " #value, kAny, dfcclWorldCreate(&config, &made)); \
    CHECK(made == NULL);                                                                      \
    dfcclJoinConfig_t join = DFCCL_JOIN_CONFIG_INIT;                                          \
    join.job = "misuse";                                                                      \
    join.timeoutMillis = 1;                                                                   \
    join.world = config;                                                                      \
    mark();                                                                                   \
    expect_refused("JoinWorld", #field " " #value, kAny, dfcclJoinWorld(&join, &made, NULL)); \
    CHECK(made == NULL);                                                                      \
  }
  WORLD_FIELDS(TRY)
#undef TRY
  mark();
  expect_refused("WorldCreate", "no config", dfcclInvalidArgument, dfcclWorldCreate(NULL, &made));
  mark();
  expect_refused("WorldCreate", "no address", dfcclInvalidArgument,
                 dfcclWorldCreate(&(dfcclWorldConfig_t)DFCCL_WORLD_CONFIG_INIT, NULL));

  static const size_t sizes[] = {0, 1, sizeof(dfcclJoinConfig_t) - 1, sizeof(dfcclJoinConfig_t) + 1, SIZE_MAX};
  static const int wrong_ranks[] = {-1, INT_MIN, 2, INT_MAX};
  dfcclJoinConfig_t config = DFCCL_JOIN_CONFIG_INIT;
  config.world.ranks = 2;
  config.job = "misuse";
  config.timeoutMillis = 1;
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    config.structSize = sizes[i];
    mark();
    expect_refused("JoinWorld", "a wrong structSize", dfcclInvalidArgument, dfcclJoinWorld(&config, &made, &number));
  }
  config.structSize = sizeof config;
  for (size_t i = 0; i < sizeof wrong_ranks / sizeof *wrong_ranks; i++) {
    config.rank = wrong_ranks[i];
    mark();
    expect_refused("JoinWorld", "a wrong rank", dfcclInvalidArgument, dfcclJoinWorld(&config, &made, &number));
  }
  config.rank = 0;
  mark();
  expect_refused("JoinWorld", "no address", dfcclInvalidArgument, dfcclJoinWorld(&config, NULL, &number));
  mark();
  expect_refused("JoinWorld", "no launcher", dfcclInvalidArgument, dfcclJoinWorld(NULL, &made, &number));
  static char job[100000];
  memset(job, 'x', sizeof job - 1);
  config.job = job;
  mark();
  expect_refused("JoinWorld", "a long name, and nobody else", kAny, dfcclJoinWorld(&config, &made, &number));
  CHECK(made == NULL);
}

static void strings(void) {
  static const int codes[] = {-1, INT_MIN, INT_MAX, 15};
  for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
    CHECK(strcmp(dfcclGetErrorString((dfcclResult_t)codes[i]), "unknown result") == 0);
}

/* With a context of each kind of world. */
static void of_world(dfcclRankCtx_t c, dfcclRankCtx_t elsewhere) {
  send = recv = NULL;
  void *in = NULL, *out = NULL;
  CHECK_OK(dfcclAllocate(2 * kCount * sizeof(float), &in, c));
  CHECK_OK(dfcclAllocate(2 * kCount * sizeof(float), &out, c));
  send = in;
  recv = out;
  CHECK_OK(dfcclRegisterAllReduce(kCount, dfcclFloat32, dfcclSum, kId, dfcclAllRanks(), 0, c));
  contexts();
  worlds(c);
  addresses(c);
  numbers(c);
  sets_and_sizes(c);
  programs(c);
  memories(c, elsewhere);
  buffers(c);
  CHECK(memory == NULL && closed_again == NULL);
  CHECK_OK(dfcclUnregister(kId, c));
  CHECK_OK(dfcclFree(in, 2 * kCount * sizeof(float), c));
  CHECK_OK(dfcclFree(out, 2 * kCount * sizeof(float), c));
}

int main(void) {
  static const char* const launchers[] = {"DFCCL_RANK", "OMPI_COMM_WORLD_RANK", "SLURM_STEP_NUM_TASKS", "PMI_RANK",
                                          "RANK"};
  for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++) unsetenv(launchers[i]);
  setenv("DFCCL_RANKS", "2", 1); /* for the default world, which is refused ranks */
  dfcclRankCtx_t alone, joined;
  dfcclWorld_t joined_world;
  world = open_world(kRanks, 1);
  CHECK_OK(dfcclInitRank(world, 1, &closed));
  CHECK_OK(dfcclDestroy(closed));
  CHECK_OK(dfcclInitRank(world, 0, &alone));
  char job[64];
  snprintf(job, sizeof job, "misuse-%ld", (long)getpid());
  dfcclJoinConfig_t config = DFCCL_JOIN_CONFIG_INIT;
  config.job = job;
  config.world.ranks = 1;
  config.world.arenaBytes = 64 << 20;
  CHECK_OK(dfcclJoinWorld(&config, &joined_world, NULL));
  CHECK_OK(dfcclInitRank(joined_world, 0, &joined));

  of_world(alone, joined);
  of_world(joined, alone);
  configs();
  strings();

  CHECK_OK(dfcclDestroy(alone));
  CHECK_OK(dfcclDestroy(joined));
  CHECK_OK(dfcclWorldDestroy(joined_world));
  CHECK_OK(dfcclWorldDestroy(world));
  return report();
}

/* Handles that are none, and results that have nowhere to go. */
#include "c_api/misuse_worlds.h"

static dfcclRankCtx_t closed;
static int number, ranks[kRanks];
static uint64_t ended;
static size_t count;
static void* memory;
static const int both[] = {0, 1};
static const char program[16];

/* ---- Contexts ------------------------------------------------------------------------------------------------ */

#define WITH_CONTEXT(X)                                                                                          \
  X(Allocate, dfcclAllocate(16, &memory, c))                                                                     \
  X(Free, dfcclFree(recv, 16, c))                                                                                \
  X(FreeNothing, dfcclFree(NULL, 16, c))                                                                         \
  X(GetLostRanks, dfcclGetLostRanks(ranks, kRanks, &number, c))                                                  \
  X(GetEndedCapturedRuns, dfcclGetEndedCapturedRuns(&ended, c))                                                  \
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
  X(SetCountPerRun, dfcclSetCountPerRun(0, c))                                                                   \
  X(Unregister, dfcclUnregister(kId, c))                                                                         \
  X(Abort, dfcclAbort(kId, c))                                                                                   \
  X(IsQuarantineOver, dfcclIsQuarantineOver(kId, &number, c))                                                    \
  X(Run, dfcclRun(send, recv, kId, NULL, NULL, c))                                                               \
  X(RunCount, dfcclRunCount(send, recv, 1, kId, NULL, NULL, c))                                                  \
  X(GetMismatchedCounts, dfcclGetMismatchedCounts(&count, 1, &number, kId, c))                                   \
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
  X(NoEndedCount, dfcclGetEndedCapturedRuns(NULL, c))           \
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

static void test(dfcclRankCtx_t c, dfcclRankCtx_t elsewhere) {
  (void)elsewhere;
  CHECK_OK(dfcclInitRank(world, 1, &closed));
  CHECK_OK(dfcclDestroy(closed));
  contexts();
  worlds(c);
  addresses(c);
  CHECK(memory == NULL && closed_again == NULL);
}

int main(void) {
  in_both_worlds(test);
  return report();
}

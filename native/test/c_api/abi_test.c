/* What a program that was compiled once relies on in every library of the same number (docs/c.md): functions of these
 * types, these values, these places. A line that has to change here, rather than be added, wants a new major version.
 */
#include <stddef.h>

#include "c_api/check.h"

#define VALUE(name, value) _Static_assert(name == value, #name " has another value")
VALUE(dfcclSuccess, 0);
VALUE(dfcclInvalidArgument, 1);
VALUE(dfcclUnknownCollective, 2);
VALUE(dfcclAlreadyRegistered, 3);
VALUE(dfcclRegistrationMismatch, 4);
VALUE(dfcclInvalidProgram, 5);
VALUE(dfcclOutOfMemory, 6);
VALUE(dfcclQueueFull, 7);
VALUE(dfcclInUse, 8);
VALUE(dfcclClosed, 9);
VALUE(dfcclAborted, 10);
VALUE(dfcclTimeout, 11);
VALUE(dfcclSystemError, 12);
VALUE(dfcclDeadlock, 13);
VALUE(dfcclUnavailable, 14);
VALUE(dfcclCountMismatch, 15);
VALUE(dfcclInt8, 0);
VALUE(dfcclUint8, 1);
VALUE(dfcclInt32, 2);
VALUE(dfcclUint32, 3);
VALUE(dfcclInt64, 4);
VALUE(dfcclUint64, 5);
VALUE(dfcclFloat16, 6);
VALUE(dfcclFloat32, 7);
VALUE(dfcclFloat64, 8);
VALUE(dfcclBfloat16, 9);
VALUE(dfcclFloat8e4m3, 10);
VALUE(dfcclFloat8e5m2, 11);
VALUE(dfcclSum, 0);
VALUE(dfcclProd, 1);
VALUE(dfcclMin, 2);
VALUE(dfcclMax, 3);
VALUE(dfcclAvg, 4);
VALUE(dfcclScaledSum, 5);
VALUE(dfcclBitAnd, 6);
VALUE(dfcclBitOr, 7);
VALUE(dfcclBitXor, 8);
VALUE(dfcclCpu, 0);
VALUE(dfcclCuda, 1);
VALUE(dfcclAuto, 2);
VALUE(DFCCL_NO_WORKERS, -1);

#define PLACE(type, field, offset) _Static_assert(offsetof(type, field) == offset, #field " lies elsewhere")
PLACE(dfcclWorldConfig_t, structSize, 0);
PLACE(dfcclWorldConfig_t, ranks, 8);
PLACE(dfcclWorldConfig_t, workers, 12);
PLACE(dfcclWorldConfig_t, grid, 16);
PLACE(dfcclWorldConfig_t, submissionSlots, 20);
PLACE(dfcclWorldConfig_t, completionSlots, 24);
PLACE(dfcclWorldConfig_t, collectives, 28);
PLACE(dfcclWorldConfig_t, programBlocks, 32);
PLACE(dfcclWorldConfig_t, streams, 36);
PLACE(dfcclWorldConfig_t, arenaBytes, 40);
PLACE(dfcclWorldConfig_t, backend, 48);
PLACE(dfcclWorldConfig_t, devices, 56);
PLACE(dfcclWorldConfig_t, slotPayloadBytes, 64);
PLACE(dfcclJoinConfig_t, structSize, 0);
PLACE(dfcclJoinConfig_t, world, 8);
PLACE(dfcclJoinConfig_t, job, 80); /* behind the world's config: a caller's world.structSize tells where */
PLACE(dfcclJoinConfig_t, rank, 88);
PLACE(dfcclJoinConfig_t, timeoutMillis, 92);
PLACE(dfcclJoinConfig_t, muteMillis, 96);
PLACE(dfcclDevSet_t, ranks, 0);
PLACE(dfcclDevSet_t, count, 8);
_Static_assert(sizeof(dfcclDevSet_t) == 16, "it is passed by value");
PLACE(dfcclCounters_t, launches, 8);
PLACE(dfcclCounters_t, quits, 16);
PLACE(dfcclCounters_t, runsTaken, 24);
PLACE(dfcclCounters_t, runsCompleted, 32);
PLACE(dfcclCounters_t, visits, 40);
PLACE(dfcclCounters_t, stuckVisits, 48);
PLACE(dfcclCounters_t, slices, 56);
PLACE(dfcclCounters_t, preemptions, 64);
PLACE(dfcclCounters_t, contextLoads, 72);
PLACE(dfcclCounters_t, contextSaves, 80);
PLACE(dfcclCounters_t, queueLengthSum, 88);
PLACE(dfcclCounters_t, queueLengthMaximum, 96);
PLACE(dfcclCounters_t, bytesMoved, 104);
PLACE(dfcclCounters_t, runsInFlight, 112);
PLACE(dfcclCounters_t, collectiveBytes, 120);
PLACE(dfcclCounters_t, arenaBytesUsed, 128);

typedef dfcclDataType_t data_type_t;
typedef dfcclRedOp_t op_t;
typedef dfcclRankCtx_t ctx_t;
typedef dfcclDevSet_t set_t;
typedef dfcclCallback_t callback_t;
typedef dfcclRequest_t request_t;

/* The compiler compares the types; that they are there, the linker. */
#define HAS(name, ...)                             \
  do {                                             \
    dfcclResult_t (*function)(__VA_ARGS__) = name; \
    CHECK(function != NULL);                       \
  } while (0)

static void functions(void) {
  HAS(dfcclBatchBegin, void);
  HAS(dfcclBatchEnd, request_t*);
  HAS(dfcclBatchCancel, void);
  HAS(dfcclRecvAny, void*, size_t, data_type_t, int*, dfcclGroup_t, uint64_t, request_t*);
  HAS(dfcclWorldCreate, const dfcclWorldConfig_t*, dfcclWorld_t*);
  HAS(dfcclWorldDestroy, dfcclWorld_t);
  HAS(dfcclJoinWorld, const dfcclJoinConfig_t*, dfcclWorld_t*, int*);
  HAS(dfcclAllocate, size_t, void**, ctx_t);
  HAS(dfcclFree, void*, size_t, ctx_t);
  HAS(dfcclGetLostRanks, int*, int, int*, ctx_t);
  HAS(dfcclGetEndedCapturedRuns, uint64_t*, ctx_t);
  HAS(dfcclAgreeOnSurvivors, uint64_t, int*, int, int*, ctx_t);
  HAS(dfcclInit, ctx_t*, int);
  HAS(dfcclInitRank, dfcclWorld_t, int, ctx_t*);
  HAS(dfcclGetDevice, int*, ctx_t);
  HAS(dfcclGetRank, int*, ctx_t);
  HAS(dfcclGetRankCount, int*, ctx_t);
  HAS(dfcclGetLocalRank, int*, ctx_t);
  HAS(dfcclGetLocalRankCount, int*, ctx_t);
  HAS(dfcclGetHost, int*, ctx_t);
  HAS(dfcclGetHostCount, int*, ctx_t);
  HAS(dfcclDestroy, ctx_t);
  HAS(dfcclRegisterAllReduce, size_t, data_type_t, op_t, int, set_t, int, ctx_t);
  HAS(dfcclRegisterAllGather, size_t, data_type_t, int, set_t, int, ctx_t);
  HAS(dfcclRegisterReduceScatter, size_t, data_type_t, op_t, int, set_t, int, ctx_t);
  HAS(dfcclRegisterReduce, size_t, data_type_t, op_t, int, int, set_t, int, ctx_t);
  HAS(dfcclRegisterBroadcast, size_t, data_type_t, int, int, set_t, int, ctx_t);
  HAS(dfcclRegisterAllToAll, size_t, data_type_t, int, set_t, int, ctx_t);
  HAS(dfcclRegisterGather, size_t, data_type_t, int, int, set_t, int, ctx_t);
  HAS(dfcclRegisterScatter, size_t, data_type_t, int, int, set_t, int, ctx_t);
  HAS(dfcclRegisterSendRecv, size_t, data_type_t, int, int, set_t, int, ctx_t);
  HAS(dfcclRegisterBarrier, int, set_t, int, ctx_t);
  HAS(dfcclRegisterProgram, const void*, size_t, size_t, data_type_t, op_t, int, set_t, int, ctx_t);
  HAS(dfcclSetScale, double, ctx_t);
  HAS(dfcclSetCountPerRun, int, ctx_t);
  HAS(dfcclUnregister, int, ctx_t);
  HAS(dfcclAbort, int, ctx_t);
  HAS(dfcclIsQuarantineOver, int, int*, ctx_t);
  HAS(dfcclRun, const void*, void*, int, callback_t, void*, ctx_t);
  HAS(dfcclRunCount, const void*, void*, size_t, int, callback_t, void*, ctx_t);
  HAS(dfcclGetMismatchedCounts, size_t*, int, int*, int, ctx_t);
  HAS(dfcclRunAllReduce, const void*, void*, int, callback_t, void*, ctx_t);
  HAS(dfcclRunAllGather, const void*, void*, int, callback_t, void*, ctx_t);
  HAS(dfcclRunReduceScatter, const void*, void*, int, callback_t, void*, ctx_t);
  HAS(dfcclRunReduce, const void*, void*, int, callback_t, void*, ctx_t);
  HAS(dfcclRunBroadcast, const void*, void*, int, callback_t, void*, ctx_t);
  HAS(dfcclRunAllToAll, const void*, void*, int, callback_t, void*, ctx_t);
  HAS(dfcclRunGather, const void*, void*, int, callback_t, void*, ctx_t);
  HAS(dfcclRunScatter, const void*, void*, int, callback_t, void*, ctx_t);
  HAS(dfcclRunSendRecv, const void*, void*, int, callback_t, void*, ctx_t);
  HAS(dfcclRunBarrier, int, callback_t, void*, ctx_t);
  HAS(dfcclRunOnStream, const void*, void*, int, dfcclStream_t, callback_t, void*, ctx_t);
  HAS(dfcclWaitOnStream, int, dfcclStream_t, ctx_t);
  HAS(dfcclRunProgram, const void*, void*, int, callback_t, void*, ctx_t);
  HAS(dfcclWait, ctx_t);
  HAS(dfcclWaitFor, uint64_t, ctx_t);
  HAS(dfcclWaitAll, const ctx_t*, int);
  HAS(dfcclPoll, int*, ctx_t);
  HAS(dfcclSynchronize, ctx_t);
  HAS(dfcclGetCounters, dfcclCounters_t*, ctx_t);
  HAS(dfcclWriteTrace, const char*, const ctx_t*, int);
  HAS(dfcclWriteFlightRecord, const char*, ctx_t);
  HAS(dfcclGetVersion, int*);
  const char* (*last_error)(void) = dfcclGetLastError;
  const char* (*error_string)(dfcclResult_t) = dfcclGetErrorString;
  const char* (*version)(void) = dfcclVersion;
  CHECK(last_error != NULL && error_string != NULL && version != NULL);
}

int main(void) {
  functions();
  return report();
}

/* Every misuse is a code and a string that names what, where and what to do; nothing is queued, nothing hangs. */
#include <limits.h>
#include <math.h>

#include "c_api/expected_errors.h"

static float b[4 * kCount];

static void registration(void) {
  const dfcclDevSet_t all = dfcclAllRanks();
  const int twice[] = {0, 0}, far[] = {0, 9}, negative[] = {0, -1}, other[] = {1}, one[] = {0};
  EXPECT(dfcclInvalidArgument, "context is null", register_with(1, dfcclFloat32, dfcclSum, 1, all, NULL));
  EXPECT(dfcclClosed, "never made",
         register_with(1, dfcclFloat32, dfcclSum, 1, all, (dfcclRankCtx_t)(uintptr_t)0xdead));
  EXPECT(dfcclInvalidArgument, "type is 12", register_with(1, 12, dfcclSum, 1, all, ctx[0]));
  EXPECT(dfcclInvalidArgument, "type is -1", register_with(1, -1, dfcclSum, 1, all, ctx[0]));
  EXPECT(dfcclInvalidArgument, "op is bit-and of float32", register_with(1, dfcclFloat32, dfcclBitAnd, 1, all, ctx[0]));
  EXPECT(dfcclInvalidArgument, "op is 9", register_with(1, dfcclFloat32, 9, 1, all, ctx[0]));
  EXPECT(dfcclInvalidArgument, "collId is -7", register_with(1, dfcclFloat32, dfcclSum, -7, all, ctx[0]));
  EXPECT(dfcclInvalidArgument, "count is", register_with(SIZE_MAX, dfcclFloat32, dfcclSum, 1, all, ctx[0]));
  EXPECT(dfcclInvalidArgument, "rank 0 twice",
         register_with(1, dfcclFloat32, dfcclSum, 1, (dfcclDevSet_t){twice, 2}, ctx[0]));
  EXPECT(dfcclInvalidArgument, "rank 9", register_with(1, dfcclFloat32, dfcclSum, 1, (dfcclDevSet_t){far, 2}, ctx[0]));
  EXPECT(dfcclInvalidArgument, "rank -1",
         register_with(1, dfcclFloat32, dfcclSum, 1, (dfcclDevSet_t){negative, 2}, ctx[0]));
  EXPECT(dfcclInvalidArgument, "without rank 0",
         register_with(1, dfcclFloat32, dfcclSum, 1, (dfcclDevSet_t){other, 1}, ctx[0]));
  EXPECT(dfcclInvalidArgument, "devSet.ranks is null",
         register_with(1, dfcclFloat32, dfcclSum, 1, (dfcclDevSet_t){NULL, 2}, ctx[0]));
  EXPECT(dfcclInvalidArgument, "devSet.count is -1",
         register_with(1, dfcclFloat32, dfcclSum, 1, (dfcclDevSet_t){one, -1}, ctx[0]));
  EXPECT(dfcclInvalidArgument, "root is 2", dfcclRegisterBroadcast(1, dfcclFloat32, 2, 1, all, 0, ctx[0]));
  EXPECT(dfcclInvalidArgument, "root is -1", dfcclRegisterReduce(1, dfcclFloat32, dfcclSum, -1, 1, all, 0, ctx[0]));
  EXPECT(dfcclInvalidArgument, "root is 5", dfcclRegisterGather(1, dfcclFloat32, 5, 1, all, 0, ctx[0]));
  EXPECT(dfcclInvalidArgument, "root is 5", dfcclRegisterScatter(1, dfcclFloat32, 5, 1, all, 0, ctx[0]));
  EXPECT(dfcclInvalidArgument, "exactly 2",
         dfcclRegisterSendRecv(1, dfcclFloat32, 0, 1, (dfcclDevSet_t){one, 1}, 0, ctx[0]));
  EXPECT(dfcclInvalidArgument, "scale", dfcclSetScale((double)(0.0f / (float)atoi("0")), ctx[0]));

  EXPECT(dfcclInvalidProgram, "no address",
         dfcclRegisterProgram(NULL, 0, 1, dfcclFloat32, dfcclSum, 1, all, 0, ctx[0]));
  EXPECT(dfcclInvalidProgram, "4 bytes", dfcclRegisterProgram(a, 4, 1, dfcclFloat32, dfcclSum, 1, all, 0, ctx[0]));
  EXPECT(dfcclInvalidProgram, "bytes", dfcclRegisterProgram(a, SIZE_MAX, 1, dfcclFloat32, dfcclSum, 1, all, 0, ctx[0]));
  EXPECT(dfcclInvalidProgram, "program",
         dfcclRegisterProgram(a, sizeof a, 1, dfcclFloat32, dfcclSum, 1, all, 0, ctx[0]));

  EXPECT(dfcclUnknownCollective, "no collective 1", dfcclUnregister(1, ctx[0]));
  EXPECT(dfcclUnknownCollective, "no collective 1", dfcclAbort(1, ctx[0]));
  EXPECT(dfcclUnknownCollective, "no collective -3", dfcclUnregister(-3, ctx[0]));
  CHECK_OK(register_with(kCount, dfcclFloat32, dfcclSum, 1, all, ctx[0]));
  EXPECT(dfcclAlreadyRegistered, "collective 1 already", register_with(kCount, dfcclFloat32, dfcclSum, 1, all, ctx[0]));
  EXPECT(dfcclRegistrationMismatch, "count", register_with(kCount + 1, dfcclFloat32, dfcclSum, 1, all, ctx[1]));
  EXPECT(dfcclRegistrationMismatch, "dataType", register_with(kCount, dfcclInt32, dfcclSum, 1, all, ctx[1]));
  EXPECT(dfcclRegistrationMismatch, "op", register_with(kCount, dfcclFloat32, dfcclMax, 1, all, ctx[1]));
  EXPECT(dfcclRegistrationMismatch, "collective", dfcclRegisterAllGather(kCount, dfcclFloat32, 1, all, 0, ctx[1]));
  EXPECT(dfcclInvalidArgument, "answer is null", dfcclIsQuarantineOver(1, NULL, ctx[0]));
  CHECK_OK(register_with(kCount, dfcclFloat32, dfcclSum, 1, all, ctx[1]));
}

static void runs(void) {
  const dfcclDevSet_t all = dfcclAllRanks();
  CHECK_OK(dfcclRegisterAllGather(kCount, dfcclFloat32, 2, all, 0, ctx[1]));
  CHECK_OK(dfcclRegisterReduceScatter(kCount, dfcclFloat32, dfcclSum, 3, all, 0, ctx[1]));
  CHECK_OK(dfcclRegisterAllToAll(kCount, dfcclFloat32, 4, all, 0, ctx[1]));
  CHECK_OK(dfcclRegisterReduce(kCount, dfcclFloat32, dfcclSum, 1, 5, all, 0, ctx[1]));

  EXPECT(dfcclInvalidArgument, "context is null", dfcclRun(a, b, 1, NULL, NULL, NULL));
  EXPECT(dfcclUnknownCollective, "no collective 99", dfcclRun(a, b, 99, NULL, NULL, ctx[0]));
  EXPECT(dfcclUnknownCollective, "no collective -1", dfcclRun(a, b, -1, NULL, NULL, ctx[0]));
  EXPECT(dfcclUnknownCollective, "no collective", dfcclRun(a, b, INT_MIN, NULL, NULL, ctx[0]));
  EXPECT(dfcclInvalidArgument, "send buffer is null", dfcclRunAllReduce(NULL, b, 1, NULL, NULL, ctx[0]));
  EXPECT(dfcclInvalidArgument, "receive buffer is null", dfcclRunAllReduce(a, NULL, 1, NULL, NULL, ctx[0]));
  EXPECT(dfcclInvalidArgument, "same address for both", dfcclRunAllReduce(a, a + 1, 1, NULL, NULL, ctx[0]));
  EXPECT(dfcclInvalidArgument, "same address for both", dfcclRunAllReduce(a + kCount - 1, a, 1, NULL, NULL, ctx[0]));
  EXPECT(dfcclInvalidArgument, "48 bits",
         dfcclRunAllReduce((const void*)(uintptr_t)0xffff000000000000u, b, 1, NULL, NULL, ctx[0]));
  EXPECT(dfcclInvalidArgument, "not broadcast", dfcclRunBroadcast(a, b, 1, NULL, NULL, ctx[0]));
  EXPECT(dfcclInvalidArgument, "not a program of your own", dfcclRunProgram(a, b, 1, NULL, NULL, ctx[0]));
  EXPECT(dfcclInvalidArgument, "not barrier", dfcclRunBarrier(1, NULL, NULL, ctx[0]));
  /* Rank 1's segment of the other buffer is the only place in place. */
  EXPECT(dfcclInvalidArgument, "segment of the receive buffer", dfcclRunAllGather(a, a, 2, NULL, NULL, ctx[1]));
  EXPECT(dfcclInvalidArgument, "segment of the send buffer", dfcclRunReduceScatter(a, a, 3, NULL, NULL, ctx[1]));
  EXPECT(dfcclInvalidArgument, "that don't overlap.", dfcclRunAllToAll(a, a, 4, NULL, NULL, ctx[1]));
  EXPECT(dfcclInvalidArgument, "on rank 1", dfcclRunReduce(a, NULL, 5, NULL, NULL, ctx[1]));
  CHECK_OK(dfcclWait(ctx[0])); /* nothing was queued */
  CHECK_OK(dfcclWait(ctx[1]));
}

/* A factor that the type cuts off, or wraps, would give wrong sums in silence. */
static void scales(void) {
  static const struct {
    int type;
    double scale;
    const char* mentions;
  } wrong[] = {{dfcclInt32, 0.5, "scale is 0.5, by which values of int32"},
               {dfcclInt32, 1e30, "scale is 1e+30, by which values of int32"},
               {dfcclInt8, 300, "scale is 300, by which values of int8"},
               {dfcclUint8, -1, "scale is -1, by which values of uint8"},
               {dfcclUint8, 256, "from 0 to 255"},
               {dfcclUint32, 4294967296.0, "scale is 4294967296"},
               {dfcclInt64, 9223372036854775808.0, "int64"},
               {dfcclUint64, 18446744073709551616.0, "uint64"},
               {dfcclUint64, -0.5, "uint64"},
               {dfcclFloat32, 1e300, "scale is 1e+300, by which values of float32"},
               {dfcclFloat16, -1e300, "float16"},
               {dfcclFloat64, HUGE_VAL, "float64"}};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    CHECK_OK(dfcclSetScale(wrong[i].scale, ctx[0]));
    EXPECT(dfcclInvalidArgument, wrong[i].mentions,
           register_with(1, wrong[i].type, dfcclScaledSum, 500, dfcclAllRanks(), ctx[0]));
  }
  static const struct {
    int type;
    double scale;
  } right[] = {{dfcclInt8, -128},
               {dfcclUint8, 255},
               {dfcclInt32, -2147483648.0},
               {dfcclUint32, 4294967295.0},
               {dfcclInt64, -9223372036854775808.0},
               {dfcclUint64, 18446744073709549568.0},
               {dfcclFloat16, 0.5}};
  for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
    CHECK_OK(dfcclSetScale(right[i].scale, ctx[0]));
    CHECK_OK(register_with(1, right[i].type, dfcclScaledSum, 500, dfcclAllRanks(), ctx[0]));
    CHECK_OK(dfcclUnregister(500, ctx[0]));
  }
  /* It concerns scaled sums only. */
  CHECK_OK(dfcclSetScale(0.5, ctx[0]));
  CHECK_OK(register_with(1, dfcclInt32, dfcclSum, 500, dfcclAllRanks(), ctx[0]));
  CHECK_OK(dfcclUnregister(500, ctx[0]));
  CHECK_OK(dfcclSetScale(1, ctx[0]));
}

static void strings(void) {
  for (int code = dfcclSuccess; code <= dfcclCountMismatch; code++)
    CHECK(strcmp(dfcclGetErrorString((dfcclResult_t)code), "unknown result") != 0);
  CHECK(strcmp(dfcclGetErrorString((dfcclResult_t)1000), "unknown result") == 0);
  int major, minor, patch;
  CHECK(sscanf(dfcclVersion(), "%d.%d.%d", &major, &minor, &patch) == 3);
}

static void first_error_of_a_thread(int rank, void* shared) {
  (void)shared;
  if (rank == 0) CHECK(strcmp(dfcclGetLastError(), "") == 0);
}

/* What only GPUs have. */
static void gpus_only(void) {
  CHECK_OK(register_with(kCount, dfcclFloat32, dfcclSum, 0, dfcclAllRanks(), ctx[0]));
  EXPECT(dfcclUnavailable, "on a CPU, where there are no streams", dfcclRunOnStream(a, b, 0, NULL, NULL, NULL, ctx[0]));
  EXPECT(dfcclUnavailable, "on a CPU, where there are no streams", dfcclWaitOnStream(0, NULL, ctx[0]));
  dfcclGroup_t group = NULL;
  CHECK_OK(dfcclGroupCreate(NULL, 0, 0, &group, ctx[0]));
  EXPECT(dfcclUnavailable, "on CPUs, where there are no streams", dfcclGroupRunInStreams(group, 1, 0, dfcclForAll));
  CHECK_OK(dfcclGroupRunInStreams(group, 0, 0, dfcclForItsStream));
  EXPECT(dfcclInvalidArgument, "no readers 2", dfcclGroupRunInStreams(group, 0, 0, (dfcclReaders_t)2));
  EXPECT(dfcclInvalidArgument, "-1 blocks", dfcclGroupRunInStreams(group, 0, -1, dfcclForAll));
  CHECK_OK(dfcclGroupDestroy(group));
  EXPECT(dfcclUnknownCollective, "12345", dfcclRunOnStream(a, b, 12345, NULL, NULL, NULL, ctx[0]));
  EXPECT(dfcclUnknownCollective, "12345", dfcclWaitOnStream(12345, NULL, ctx[0]));
  EXPECT(dfcclInvalidArgument, "context is null", dfcclWaitOnStream(0, NULL, NULL));
  EXPECT(dfcclUnavailable, "writes no trace", dfcclWriteTrace("/dev/null", ctx, 2));
  EXPECT(dfcclInvalidArgument, "path or the list", dfcclWriteTrace(NULL, ctx, 2));
  EXPECT(dfcclInvalidArgument, "length is 0", dfcclWriteTrace("/dev/null", ctx, 0));
  EXPECT(dfcclUnavailable, "no processes", dfcclWriteFlightRecord("/dev/null", ctx[0]));
  EXPECT(dfcclInvalidArgument, "path is null", dfcclWriteFlightRecord(NULL, ctx[0]));
  EXPECT(dfcclInvalidArgument, "context is null", dfcclWriteFlightRecord("/dev/null", NULL));
  EXPECT(dfcclInvalidArgument, "no room", dfcclDescribe(NULL, 64, ctx[0]));
  EXPECT(dfcclInvalidArgument, "no room", dfcclDescribe((char[64]){0}, 0, ctx[0]));
  CHECK_OK(dfcclUnregister(0, ctx[0]));
}

int main(void) {
  on_threads(1, first_error_of_a_thread, NULL);
  open_ranks();
  registration();
  runs();
  scales();
  gpus_only();
  strings();
  on_threads(1, first_error_of_a_thread, NULL); /* this thread's errors are not another's */
  close_ranks();
  return report();
}

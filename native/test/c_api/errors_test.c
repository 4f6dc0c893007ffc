/* Every misuse is a code and a string that names what, where and what to do; nothing is queued, nothing hangs. */
#include <limits.h>
#include <math.h>
#include <unistd.h>

#include "c_api/check.h"

enum { kCount = 16 };

static dfcclWorld_t world;
static dfcclRankCtx_t ctx[2];
static float a[4 * kCount], b[4 * kCount];

struct outcome {
  const char* name;
  dfcclResult_t expected;
  const char* mentions;
  dfcclResult_t actual;
  char message[1024];
};

static void check_outcome(struct outcome o) {
  if (o.actual == o.expected && strstr(o.message, o.mentions) != NULL) {
    CHECK(1);
    return;
  }
  fprintf(stderr, "%s: got %s (%s), expected %s mentioning \"%s\"\n", o.name, dfcclGetErrorString(o.actual), o.message,
          dfcclGetErrorString(o.expected), o.mentions);
  CHECK(!"the outcome above");
}

#define EXPECT(result, text, call)                                    \
  do {                                                                \
    struct outcome o = {#call, result, text, call, ""};               \
    snprintf(o.message, sizeof o.message, "%s", dfcclGetLastError()); \
    check_outcome(o);                                                 \
  } while (0)

static dfcclResult_t register_with(size_t count, int type, int op, int id, dfcclDevSet_t set, dfcclRankCtx_t c) {
  return dfcclRegisterAllReduce(count, (dfcclDataType_t)type, (dfcclRedOp_t)op, id, set, 0, c);
}

static void registration(void) {
  const dfcclDevSet_t all = dfcclAllRanks();
  const int twice[] = {0, 0}, far[] = {0, 9}, negative[] = {0, -1}, other[] = {1}, one[] = {0};
  EXPECT(dfcclInvalidArgument, "context is null", register_with(1, dfcclFloat32, dfcclSum, 1, all, NULL));
  EXPECT(dfcclClosed, "never made",
         register_with(1, dfcclFloat32, dfcclSum, 1, all, (dfcclRankCtx_t)(uintptr_t)0xdead));
  EXPECT(dfcclInvalidArgument, "type is 12", register_with(1, 12, dfcclSum, 1, all, ctx[0]));
  EXPECT(dfcclInvalidArgument, "type is -1", register_with(1, -1, dfcclSum, 1, all, ctx[0]));
  EXPECT(dfcclInvalidArgument, "op is 6", register_with(1, dfcclFloat32, 6, 1, all, ctx[0]));
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

static void worlds(void) {
  dfcclWorldConfig_t config = DFCCL_WORLD_CONFIG_INIT;
  dfcclWorld_t none;
  dfcclRankCtx_t c;
  EXPECT(dfcclInvalidArgument, "config is null", dfcclWorldCreate(NULL, &none));
  EXPECT(dfcclInvalidArgument, "new world is null", dfcclWorldCreate(&config, NULL));
  EXPECT(dfcclInvalidArgument, "ranks is 0", dfcclWorldCreate(&config, &none));
  CHECK(none == NULL);
  config.ranks = 2;
  config.submissionSlots = 100;
  EXPECT(dfcclInvalidArgument, "submissionSlots is 100", dfcclWorldCreate(&config, &none));
  config.submissionSlots = 0;
  config.workers = -5;
  EXPECT(dfcclInvalidArgument, "workers is -5", dfcclWorldCreate(&config, &none));
  config.workers = 0;
  config.structSize = 1;
  EXPECT(dfcclInvalidArgument, "structSize is 1", dfcclWorldCreate(&config, &none));
  struct {
    dfcclWorldConfig_t known;
    int new_field;
  } newer = {DFCCL_WORLD_CONFIG_INIT, 1};
  newer.known.structSize = sizeof newer;
  newer.known.ranks = 1;
  EXPECT(dfcclInvalidArgument, "doesn't know", dfcclWorldCreate(&newer.known, &none));
  config.structSize = sizeof config;
  config.arenaBytes = (size_t)1 << 62;
  EXPECT(dfcclOutOfMemory, "arenaBytes", dfcclWorldCreate(&config, &none));

  EXPECT(dfcclInvalidArgument, "world is null", dfcclInitRank(NULL, 0, &c));
  EXPECT(dfcclInvalidArgument, "Rank is -1", dfcclInitRank(world, -1, &c));
  EXPECT(dfcclInvalidArgument, "Rank 2", dfcclInitRank(world, 2, &c));
  EXPECT(dfcclInvalidArgument, "new context is null", dfcclInitRank(world, 0, NULL));
  EXPECT(dfcclInvalidArgument, "new context is null", dfcclInit(NULL, 0));
  EXPECT(dfcclInvalidArgument, "structSize is not set", dfcclGetCounters(NULL, ctx[0]));
  EXPECT(dfcclInvalidArgument, "list of contexts", dfcclWaitAll(NULL, 2));
  EXPECT(dfcclInvalidArgument, "list of contexts", dfcclWaitAll(ctx, -2));
  CHECK_OK(dfcclWaitAll(NULL, 0));
  dfcclWorld_t elsewhere = open_world(1, DFCCL_NO_WORKERS);
  CHECK_OK(dfcclInitRank(elsewhere, 0, &c));
  const dfcclRankCtx_t mixed[] = {ctx[0], c};
  EXPECT(dfcclInvalidArgument, "different worlds", dfcclWaitAll(mixed, 2));
  CHECK_OK(dfcclDestroy(c));
  CHECK_OK(dfcclWorldDestroy(elsewhere));
}

/* Sizes at which something would wrap or be rounded up to nothing. */
static void sizes_of(dfcclRankCtx_t c) {
  static const size_t sizes[] = {SIZE_MAX,         SIZE_MAX - 1, SIZE_MAX - 4095,
                                 SIZE_MAX / 2 + 1, SIZE_MAX / 2, (size_t)1 << 50};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    void* memory = a;
    EXPECT(dfcclOutOfMemory, "bytes was asked for", dfcclAllocate(sizes[i], &memory, c));
    CHECK(memory == NULL);
    EXPECT(dfcclOutOfMemory, "bytes was asked for", dfcclFree(a, sizes[i], c));
  }
  void* memory = NULL;
  CHECK_OK(dfcclAllocate(0, &memory, c));
  CHECK_OK(dfcclFree(memory, 0, c));
  CHECK_OK(dfcclAllocate(1 << 20, &memory, c));
  CHECK(((char*)memory)[0] == 0 && ((char*)memory)[(1 << 20) - 1] == 0);
  CHECK_OK(dfcclFree(memory, 1 << 20, c));
}

static void sizes(void) {
  dfcclRankCtx_t c;
  sizes_of(ctx[0]);
  char job[64];
  snprintf(job, sizeof job, "sizes-%ld", (long)getpid());
  dfcclJoinConfig_t config = DFCCL_JOIN_CONFIG_INIT;
  config.job = job;
  config.rank = 0;
  config.world.ranks = 1;
  config.world.arenaBytes = 64 << 20;
  dfcclWorld_t alone;
  CHECK_OK(dfcclJoinWorld(&config, &alone, NULL));
  CHECK_OK(dfcclInitRank(alone, 0, &c));
  sizes_of(c);
  void* memory = a;
  EXPECT(dfcclOutOfMemory, "asked for", dfcclAllocate((size_t)1 << 30, &memory, c));
  CHECK_OK(dfcclDestroy(c));
  CHECK_OK(dfcclWorldDestroy(alone));

  dfcclWorldConfig_t large = DFCCL_WORLD_CONFIG_INIT;
  large.ranks = 2;
  large.slotPayloadBytes = SIZE_MAX;
  EXPECT(dfcclInvalidArgument, "slotPayloadBytes is", dfcclWorldCreate(&large, &alone));
  large.slotPayloadBytes = 0;
  large.arenaBytes = SIZE_MAX;
  EXPECT(dfcclOutOfMemory, "arenaBytes", dfcclWorldCreate(&large, &alone));
  large.arenaBytes = 0;
  large.programBlocks = UINT32_MAX;
  EXPECT(dfcclInvalidArgument, "tasks is", dfcclWorldCreate(&large, &alone));
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

static void tables_fill(void) {
  dfcclWorldConfig_t config = DFCCL_WORLD_CONFIG_INIT;
  config.ranks = 1;
  config.workers = DFCCL_NO_WORKERS;
  config.collectives = 8;
  dfcclWorld_t small;
  dfcclRankCtx_t c;
  CHECK_OK(dfcclWorldCreate(&config, &small));
  CHECK_OK(dfcclInitRank(small, 0, &c));
  for (int id = 0; id < 8; id++) CHECK_OK(dfcclRegisterBarrier(1000 * id, dfcclAllRanks(), 0, c));
  EXPECT(dfcclOutOfMemory, "as many collectives", dfcclRegisterBarrier(1, dfcclAllRanks(), 0, c));
  /* Ids come and go for longer than any table is large. */
  for (int id = 1; id < 1000; id++) {
    CHECK_OK(dfcclUnregister(id == 1 ? 0 : 7 * (id - 1), c));
    CHECK_OK(dfcclRegisterBarrier(7 * id, dfcclAllRanks(), 0, c));
    if (id > 1) CHECK(dfcclRunBarrier(7 * (id - 1), NULL, NULL, c) == dfcclUnknownCollective);
    CHECK_OK(dfcclRunBarrier(7 * id, NULL, NULL, c));
    CHECK_OK(dfcclWait(c));
  }
  CHECK_OK(dfcclDestroy(c));
  CHECK_OK(dfcclWorldDestroy(small));
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

/* A library without the GPU engine, or a machine without GPUs, says so; "auto" then takes the CPU. */
static void backends(void) {
  dfcclWorldConfig_t config = DFCCL_WORLD_CONFIG_INIT;
  config.ranks = 2;
  dfcclWorld_t world = NULL;
  config.backend = dfcclCuda;
  CHECK(dfcclWorldCreate(&config, &world) == dfcclUnavailable);
  CHECK(strstr(dfcclGetLastError(), "GPU engine") != NULL);
  config.backend = 99;
  CHECK(dfcclWorldCreate(&config, &world) == dfcclInvalidArgument);
  CHECK(strstr(dfcclGetLastError(), "99") != NULL);
  config.backend = dfcclAuto;
  CHECK_OK(dfcclWorldCreate(&config, &world));
  dfcclRankCtx_t ctx = NULL;
  CHECK_OK(dfcclInitRank(world, 0, &ctx));
  int device = 0;
  CHECK_OK(dfcclGetDevice(&device, ctx));
  CHECK(device == -1);
  CHECK(dfcclGetDevice(NULL, ctx) == dfcclInvalidArgument);
  /* Ranks of one process end together, so they agree at once. */
  int survivors[1] = {-1};
  int count = 0;
  CHECK_OK(dfcclAgreeOnSurvivors(0, survivors, 1, &count, ctx));
  CHECK(count >= 1 && survivors[0] == 0);
  CHECK(dfcclAgreeOnSurvivors(0, NULL, 1, &count, ctx) == dfcclInvalidArgument);
  CHECK(dfcclAgreeOnSurvivors(0, NULL, 0, NULL, ctx) == dfcclInvalidArgument);
  CHECK_OK(dfcclDestroy(ctx));
  CHECK_OK(dfcclWorldDestroy(world));
}

/* What only GPUs have. */
static void gpus_only(void) {
  CHECK_OK(register_with(kCount, dfcclFloat32, dfcclSum, 0, dfcclAllRanks(), ctx[0]));
  EXPECT(dfcclUnavailable, "on a CPU, where there are no streams", dfcclRunOnStream(a, b, 0, NULL, NULL, NULL, ctx[0]));
  EXPECT(dfcclUnavailable, "on a CPU, where there are no streams", dfcclWaitOnStream(0, NULL, ctx[0]));
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
  world = open_world(2, 1);
  for (int r = 0; r < 2; r++) CHECK_OK(dfcclInitRank(world, r, &ctx[r]));
  registration();
  runs();
  worlds();
  sizes();
  scales();
  gpus_only();
  tables_fill();
  strings();
  on_threads(1, first_error_of_a_thread, NULL); /* this thread's errors are not another's */
  for (int r = 0; r < 2; r++) CHECK_OK(dfcclDestroy(ctx[r]));
  CHECK_OK(dfcclWorldDestroy(world));
  backends();
  return report();
}

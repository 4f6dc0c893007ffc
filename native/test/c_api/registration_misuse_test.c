/* Numbers, sets of ranks, sizes and programs that nothing can be registered with, and ids that nothing is registered
 * under. */
#include "c_api/misuse_worlds.h"

static int number;
static dfcclRankCtx_t opened;
static void* memory;
static const int both[] = {0, 1};
static const char program[16];

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
  X(InitRankRank, dfcclInitRank(world, x, &opened))                                                                \
  X(InitRank, dfcclInit(&opened, x))

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

static void test(dfcclRankCtx_t c, dfcclRankCtx_t elsewhere) {
  (void)elsewhere;
  numbers(c);
  sets_and_sizes(c);
  programs(c);
  CHECK(memory == NULL && opened == NULL);
}

int main(void) {
  in_both_worlds(test);
  return report();
}

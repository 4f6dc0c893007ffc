/* Calls functions of the C API in any order with any arguments that a caller may pass without lying about memory: handles that
 * were never made or are gone, NULL, numbers out of range, buffers that are large enough for what is said to be in them. What
 * is refused must say why. Usage: c-api SEED; ends with 0, or with what it says on stderr. */
#include <dfccl/dfccl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RANKS = 2, STEPS = 400, BUFFER = 1 << 20, PLACES = 8, MOST = 2048, IDS = 8, HUGE_ID = 100 };

static uint32_t state;
static const char* doing = "nothing";
static char memory[4][BUFFER];
static dfcclWorld_t world;
static dfcclRankCtx_t ranks[RANKS];
static dfcclGroup_t groups[PLACES];
static dfcclRequest_t requests[PLACES];

static uint32_t bits(void) {
  state += 0x6d2b79f5u;
  uint32_t mixed = (state ^ (state >> 15)) * (state | 1);
  mixed = (mixed + (mixed ^ (mixed >> 7)) * (mixed | 61)) ^ mixed;
  return mixed ^ (mixed >> 14);
}
static uint32_t below(uint32_t limit) { return (uint32_t)(((uint64_t)bits() * limit) >> 32); }
static int chance(uint32_t percent) { return below(100) < percent; }

static int anyInt(void) {
  static const int awkward[] = {0, 1, -1, 2, 3, 7, 255, 1 << 20, 2147483647, -2147483647 - 1};
  return chance(50) ? (int)below(4) : awkward[below(sizeof awkward / sizeof awkward[0])];
}
static int nearly(int most) { return chance(85) ? (int)below((uint32_t)most) : anyInt(); }
static size_t hugeCount(void) {
  static const size_t huge[] = {(size_t)-1, (size_t)-2, (size_t)1 << 62, (size_t)1 << 63, (size_t)1 << 48, (size_t)1 << 61};
  return huge[below(sizeof huge / sizeof huge[0])];
}
static dfcclDataType_t type(void) { return (dfcclDataType_t)nearly(12); }
static void keepFirst(void* all, const void* next, size_t count, dfcclDataType_t kind, void* user) {
  (void)all, (void)next, (void)count, (void)kind, (void)user;
}
static dfcclRedOp_t own = dfcclSum;
static dfcclRedOp_t op(void) { return chance(10) ? own : chance(10) ? (dfcclRedOp_t)(60 + below(72)) : (dfcclRedOp_t)nearly(9); }
static void* buffer(void) { return chance(90) ? memory[below(4)] : NULL; }
static void* strange(void) { return (void*)(uintptr_t)(chance(50) ? 0 : bits()); }
static dfcclRankCtx_t rank(void) { return chance(92) ? ranks[below(RANKS)] : (dfcclRankCtx_t)strange(); }
static dfcclGroup_t group(void) { return chance(92) ? groups[below(PLACES)] : (dfcclGroup_t)strange(); }
static dfcclRequest_t request(void) { return chance(92) ? requests[below(PLACES)] : (dfcclRequest_t)strange(); }
static void onEnd(void* arguments, dfcclResult_t status) { (void)arguments, (void)status; }
static dfcclCallback_t callback(void) { return chance(50) ? onEnd : NULL; }
static dfcclDevSet_t devices(void) {
  static int lists[3][2] = {{0, 1}, {1, 0}, {0, 0}};
  static int wrong[2];
  wrong[0] = anyInt(), wrong[1] = anyInt();
  const dfcclDevSet_t some = {chance(80) ? lists[below(3)] : chance(50) ? wrong : NULL, chance(80) ? (int)below(3) : -1};
  return chance(70) ? dfcclAllRanks() : some;
}
static uint64_t name(void) { return below(4); }
/* Never 0, which is without end. */
static uint64_t briefly(void) { return 1 + below(500); }
/* Where it may be written at any time. */
static int* source(void) {
  static int sources[PLACES];
  return chance(80) ? &sources[below(PLACES)] : NULL;
}
static void* out(void) { return chance(90) ? memory[0] : NULL; }

static dfcclResult_t registering(void) {
  const int isHuge = chance(10);
  const size_t count = isHuge ? hugeCount() : below(MOST);
  const int id = isHuge ? HUGE_ID : nearly(IDS), root = nearly(RANKS), priority = anyInt();
  doing = "register";
  switch (below(11)) {
    case 0: return dfcclRegisterAllReduce(count, type(), op(), id, devices(), priority, rank());
    case 1: return dfcclRegisterAllGather(count, type(), id, devices(), priority, rank());
    case 2: return dfcclRegisterReduceScatter(count, type(), op(), id, devices(), priority, rank());
    case 3: return dfcclRegisterReduce(count, type(), op(), root, id, devices(), priority, rank());
    case 4: return dfcclRegisterBroadcast(count, type(), root, id, devices(), priority, rank());
    case 5: return dfcclRegisterAllToAll(count, type(), id, devices(), priority, rank());
    case 6: return dfcclRegisterGather(count, type(), root, id, devices(), priority, rank());
    case 7: return dfcclRegisterScatter(count, type(), root, id, devices(), priority, rank());
    case 8: return dfcclRegisterSendRecv(count, type(), root, id, devices(), priority, rank());
    case 9: return dfcclRegisterBarrier(id, devices(), priority, rank());
    default:
      for (int i = 0; i < 64; i++) memory[3][i] = (char)bits();
      return dfcclRegisterProgram(buffer(), below(MOST), count, type(), op(), id, devices(), priority, rank());
  }
}

static dfcclResult_t running(void) {
  const int id = nearly(IDS);
  doing = "run";
  switch (below(8)) {
    case 0: return dfcclRunAllReduce(buffer(), buffer(), id, callback(), NULL, rank());
    case 1: return dfcclRunBroadcast(buffer(), buffer(), id, callback(), NULL, rank());
    case 2: return dfcclRunBarrier(id, callback(), NULL, rank());
    case 3: return dfcclRunProgram(buffer(), buffer(), id, callback(), NULL, rank());
    case 4: return dfcclRunOnStream(buffer(), buffer(), id, (dfcclStream_t)strange(), callback(), NULL, rank());
    case 5: return dfcclRunCount(buffer(), buffer(), below(MOST), id, callback(), NULL, rank());
    default: return dfcclRun(buffer(), buffer(), id, callback(), NULL, rank());
  }
}

static dfcclResult_t matching(void) {
  static size_t counts[3][PLACES];
  for (int i = 0; i < PLACES; i++)
    for (int list = 0; list < 3; list++) counts[list][i] = below(MOST);
  /* More than there is memory for only where there is no memory. */
  const int isHuge = chance(5);
  void* const send = isHuge ? NULL : buffer();
  void* const recv = isHuge ? NULL : buffer();
  const size_t count = isHuge ? hugeCount() : below(MOST);
  const int root = nearly(RANKS);
  dfcclRequest_t* const place = chance(95) ? &requests[below(PLACES)] : NULL;
  doing = "a collective of a group";
  switch (below(17)) {
    case 0: return dfcclAllReduce(send, recv, count, type(), op(), group(), name(), NULL, place);
    case 1: return dfcclReduce(send, recv, count, type(), op(), root, group(), name(), NULL, place);
    case 2: return dfcclBroadcast(send, recv, count, type(), root, group(), name(), NULL, place);
    case 3: return dfcclAllGather(send, recv, count, type(), group(), name(), NULL, place);
    case 4: return dfcclReduceScatter(send, recv, count, type(), op(), group(), name(), NULL, place);
    case 5: return dfcclAllToAll(send, recv, count, type(), group(), name(), NULL, place);
    case 6: return dfcclGather(send, recv, count, type(), root, group(), name(), NULL, place);
    case 7: return dfcclScatter(send, recv, count, type(), root, group(), name(), NULL, place);
    case 8: return dfcclBarrier(group(), name(), NULL, place);
    case 9: return dfcclSend(send, count, type(), root, group(), name(), NULL, place);
    case 10: return dfcclRecv(recv, count, type(), root, group(), name(), NULL, place);
    case 11:
      return dfcclAllToAllV(send, counts[0], chance(50) ? counts[1] : NULL, recv, counts[2], NULL, type(), group(), name(), NULL, place);
    case 12: return dfcclAllGatherV(send, recv, chance(95) ? counts[0] : NULL, counts[1], type(), group(), name(), NULL, place);
    case 13: return dfcclReduceScatterV(send, recv, counts[0], type(), op(), group(), name(), NULL, place);
    case 14: return dfcclGatherV(send, recv, counts[0], counts[1], type(), root, group(), name(), NULL, place);
    case 15: return dfcclRecvAny(recv, count, type(), source(), group(), name(), place);
    default: return dfcclScatterV(send, counts[0], NULL, recv, type(), root, group(), name(), NULL, place);
  }
}

static dfcclResult_t grouping(void) {
  static int members[3];
  members[0] = nearly(RANKS), members[1] = nearly(RANKS), members[2] = anyInt();
  dfcclGroup_t* const place = chance(95) ? &groups[below(PLACES)] : NULL;
  doing = "a group's own, or a batch's";
  switch (below(15)) {
    case 0: return dfcclGroupDestroy(group());
    case 1: return dfcclGroupSplit(group(), anyInt(), anyInt(), briefly(), place);
    case 2: return dfcclGroupGetRank((int*)out(), group());
    case 3: return dfcclGroupGetRankCount((int*)out(), group());
    case 4: return chance(20) ? dfcclGroupAbort(group()) : dfcclSuccess;
    case 5: return dfcclBatchBegin();
    case 6: return chance(10) ? dfcclBatchCancel() : dfcclSuccess;
    case 7: return dfcclBatchEnd(chance(80) ? &requests[below(PLACES)] : NULL);
    case 8: return dfcclGroupRunInStreams(group(), chance(50) ? 0 : (size_t)anyInt(), nearly(40), (dfcclReaders_t)nearly(2));
    case 9: return dfcclRedOpCreate(nearly(64), chance(95) ? keepFirst : NULL, chance(90) ? NULL : memory[0], chance(95) ? &own : NULL);
    case 10: return dfcclRedOpCreatePlaced(nearly(64), (dfcclPlacedOp_t)nearly(4), chance(95) ? &own : NULL);
    case 11: return dfcclRedOpCheck(op(), type(), chance(95) ? buffer() : NULL, chance(95) ? below(70) : hugeCount());
    default: return dfcclGroupCreate(chance(60) ? NULL : members, chance(60) ? 0 : nearly(4), name(), place, rank());
  }
}

static dfcclResult_t waiting(void) {
  doing = "wait";
  switch (below(8)) {
    case 0: return dfcclWaitRun(request(), briefly());
    case 1: return dfcclWaitRuns(requests, chance(90) ? (int)below(PLACES) : -1, briefly());
    case 2: return dfcclWaitAnyRun(requests, (int)below(PLACES), briefly(), (int*)out());
    case 3: return dfcclTestRun(request(), (int*)out());
    case 4: return dfcclNotifyRun(request(), callback(), NULL);
    case 5: return dfcclFreeRequest(request());
    case 6: return dfcclWaitFor(briefly(), rank());
    default: return dfcclPoll((int*)out(), rank());
  }
}

static dfcclResult_t looking(void) {
  static dfcclCounters_t counters;
  const dfcclRankCtx_t ctx = rank();
  void* allocated = NULL;
  int* const number = (int*)out();
  counters.structSize = chance(80) ? sizeof counters : bits();
  doing = "look";
  switch (below(16)) {
    case 0: return dfcclGetCounters(chance(95) && counters.structSize <= sizeof counters ? &counters : NULL, ctx);
    case 1: return dfcclDescribe((char*)out(), below(BUFFER), ctx);
    case 2: return dfcclGetLostRanks(number, (int)below(64), (int*)out(), ctx);
    case 3: return chance(50) ? dfcclGetRank(number, ctx) : dfcclGetEndedCapturedRuns((uint64_t*)out(), ctx);
    case 4: return dfcclGetRankCount(number, ctx);
    case 5: return dfcclGetHost(number, ctx);
    case 6: return dfcclGetDevice(number, ctx);
    case 7: return dfcclSetScale(chance(50) ? 0.5 : -1e308 * 10, ctx);
    case 8: return dfcclUnregister(nearly(IDS), ctx);
    case 9: return chance(30) ? dfcclAbort(nearly(IDS), ctx) : dfcclSuccess;
    case 10: return dfcclIsQuarantineOver(nearly(IDS), number, ctx);
    case 11: return dfcclSetCountPerRun(anyInt(), ctx);
    case 12: return dfcclGetMismatchedCounts((size_t*)out(), (int)below(16), number, nearly(IDS), ctx);
    case 13: return dfcclWriteFlightRecord(chance(50) ? NULL : chance(50) ? "" : "/proc/nope/x", ctx);
    case 14: return dfcclFree(strange(), anyInt() < 0 ? 0 : below(64), ctx);
    default: {
      const size_t bytes = chance(50) ? hugeCount() : below(BUFFER);
      const dfcclResult_t result = dfcclAllocate(bytes, chance(90) ? &allocated : NULL, ctx);
      if (result == dfcclSuccess && allocated != NULL) return dfcclFree(allocated, bytes, ctx);
      return result;
    }
  }
}

static dfcclResult_t anotherWorld(void) {
  dfcclWorldConfig_t config = DFCCL_WORLD_CONFIG_INIT;
  dfcclWorld_t other = NULL;
  config.structSize = chance(90) ? sizeof config : bits() % (sizeof config + 1);
  config.ranks = chance(70) ? 1 + below(3) : (uint32_t)anyInt();
  config.workers = chance(80) ? DFCCL_NO_WORKERS : (int)below(3);
  config.grid = chance(70) ? 0 : (uint32_t)anyInt();
  config.submissionSlots = chance(70) ? 16 : (uint32_t)anyInt();
  config.completionSlots = chance(70) ? 16 : (uint32_t)anyInt();
  config.collectives = chance(70) ? 8 : (uint32_t)anyInt();
  config.programBlocks = chance(70) ? 16 : (uint32_t)anyInt();
  config.streams = chance(80) ? 0 : (uint32_t)anyInt();
  config.arenaBytes = chance(70) ? 0 : chance(50) ? hugeCount() : below(1 << 20);
  config.backend = (uint32_t)nearly(1);
  config.slotPayloadBytes = chance(70) ? 0 : hugeCount();
  doing = "create a world";
  const dfcclResult_t result = dfcclWorldCreate(chance(97) ? &config : NULL, chance(97) ? &other : NULL);
  if (other != NULL && dfcclWorldDestroy(other) != dfcclSuccess) return dfcclInUse;
  return result;
}

static dfcclResult_t step(void) {
  const uint32_t kind = below(100);
  if (kind < 15) return registering();
  if (kind < 30) return running();
  if (kind < 50) return matching();
  if (kind < 62) return grouping();
  if (kind < 80) return waiting();
  if (kind < 98) return looking();
  return chance(30) ? anotherWorld() : chance(50) ? dfcclWorldDestroy((dfcclWorld_t)strange()) : dfcclDestroy((dfcclRankCtx_t)strange());
}

static int fails(const char* what, dfcclResult_t result) {
  const char* const error = dfcclGetLastError();
  if (result == dfcclSuccess) return 0;
  if ((int)result < 0 || result > dfcclCountMismatch) return fprintf(stderr, "%s gave the code %d, which is none\n", what, (int)result);
  if (error == NULL || strlen(error) < 20) return fprintf(stderr, "%s gave %d and said \"%s\"\n", what, (int)result, error ? error : "");
  return 0;
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  state = (uint32_t)strtoul(argv[1], NULL, 10);
  alarm(120);
  dfcclWorldConfig_t config = DFCCL_WORLD_CONFIG_INIT;
  config.ranks = RANKS;
  config.workers = chance(50) ? DFCCL_NO_WORKERS : 1;
  config.submissionSlots = config.completionSlots = 64;
  config.collectives = 32;
  if (fails("dfcclWorldCreate", dfcclWorldCreate(&config, &world))) return 1;
  for (int i = 0; i < RANKS; i++)
    if (fails("dfcclInitRank", dfcclInitRank(world, i, &ranks[i]))) return 1;
  for (int i = 0; i < STEPS; i++)
    if (fails(doing, step())) return 1;
  /* Most end with work in flight, as programs do that exit. */
  if (chance(30)) return 0;
  for (int id = 0; id < IDS; id++)
    for (int i = 0; i < RANKS; i++) dfcclAbort(id, ranks[i]);
  for (int i = 0; i < PLACES; i++) dfcclGroupAbort(groups[i]);
  for (int i = 0; i < RANKS; i++) fails("dfcclDestroy", dfcclDestroy(ranks[i]));
  return fails("dfcclWorldDestroy", dfcclWorldDestroy(world)) ? 1 : 0;
}

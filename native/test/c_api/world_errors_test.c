/* Worlds that can't be, memory that there isn't, tables that are full: each a code and a string that says so. */
#include <unistd.h>

#include "c_api/expected_errors.h"

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

/* The launcher's number of ranks took the config's place, and as many devices were read. */
static void launched_as_others(void) {
  dfcclJoinConfig_t config = DFCCL_JOIN_CONFIG_INIT;
  dfcclWorld_t none;
  const int devices[2] = {0, 0};
  setenv("DFCCL_RANK", "0", 1);
  setenv("DFCCL_WORLD_SIZE", "8", 1);
  setenv("DFCCL_JOB", "launched-as-others", 1);
  config.world.devices = devices;
  config.world.ranks = 2;
  EXPECT(dfcclInvalidArgument, "the launcher tells of 8", dfcclJoinWorld(&config, &none, NULL));
  unsetenv("DFCCL_RANK");
  unsetenv("DFCCL_WORLD_SIZE");
  unsetenv("DFCCL_JOB");
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
  EXPECT(dfcclInvalidArgument, "World option programBlocks is 4294967295.", dfcclWorldCreate(&large, &alone));
  large.programBlocks = 1;
  EXPECT(dfcclInvalidArgument, "World option programBlocks is 1.", dfcclWorldCreate(&large, &alone));
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

int main(void) {
  open_ranks();
  worlds();
  launched_as_others();
  sizes();
  tables_fill();
  close_ranks();
  backends();
  return report();
}

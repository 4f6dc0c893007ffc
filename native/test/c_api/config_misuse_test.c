/* Worlds that can't be made or joined, and codes that are none. */
#include "c_api/misuse.h"

static int number;

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
  dfcclWorld_t made = NULL;
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
  static const char* const addresses[] = {"",           ":",      "node",  "node:", "node:0",
                                          "node:65536", "node:x", "[::1]", ":29500"};
  for (size_t i = 0; i < sizeof addresses / sizeof *addresses; i++) {
    config.address = addresses[i];
    mark();
    expect_refused("JoinWorld", "a wrong address", dfcclInvalidArgument, dfcclJoinWorld(&config, &made, &number));
  }
  config.address = "192.0.2.1:29500";
  config.secret = "";
  mark();
  expect_refused("JoinWorld", "no secret", kAny, dfcclJoinWorld(&config, &made, &number));
  config.secret = "short";
  mark();
  expect_refused("JoinWorld", "a short secret", kAny, dfcclJoinWorld(&config, &made, &number));
  config.address = config.secret = NULL;
  config.structSize = offsetof(dfcclJoinConfig_t, address);
  config.address = "not looked at";
  mark();
  expect_refused("JoinWorld", "nobody else", dfcclTimeout, dfcclJoinWorld(&config, &made, &number));
  config.structSize = sizeof config;
  config.address = NULL;
  static char job[100000];
  memset(job, 'x', sizeof job - 1);
  config.job = job;
  mark();
  expect_refused("JoinWorld", "a long name, and nobody else", kAny, dfcclJoinWorld(&config, &made, &number));
  CHECK(made == NULL);
}

static void strings(void) {
  static const int codes[] = {-1, INT_MIN, INT_MAX, 16};
  for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
    CHECK(strcmp(dfcclGetErrorString((dfcclResult_t)codes[i]), "unknown result") == 0);
}

int main(void) {
  without_launcher();
  configs();
  strings();
  return report();
}

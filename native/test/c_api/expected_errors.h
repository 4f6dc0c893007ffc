/* For tests of misuse: a call, the code that it has to end with, and what its message has to mention. */
#ifndef DFCCL_TEST_EXPECTED_ERRORS_H
#define DFCCL_TEST_EXPECTED_ERRORS_H

#include "c_api/check.h"

enum { kCount = 16 };

static dfcclWorld_t world;
static dfcclRankCtx_t ctx[2];
static float a[4 * kCount];

struct outcome {
  const char* name;
  dfcclResult_t expected;
  const char* mentions;
  dfcclResult_t actual;
  char message[1024];
};

static inline void check_outcome(struct outcome o) {
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

static inline dfcclResult_t register_with(size_t count, int type, int op, int id, dfcclDevSet_t set, dfcclRankCtx_t c) {
  return dfcclRegisterAllReduce(count, (dfcclDataType_t)type, (dfcclRedOp_t)op, id, set, 0, c);
}

static inline void open_ranks(void) {
  world = open_world(2, 1);
  for (int r = 0; r < 2; r++) CHECK_OK(dfcclInitRank(world, r, &ctx[r]));
}

static inline void close_ranks(void) {
  for (int r = 0; r < 2; r++) CHECK_OK(dfcclDestroy(ctx[r]));
  CHECK_OK(dfcclWorldDestroy(world));
}

#endif

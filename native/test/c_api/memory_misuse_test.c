/* Memory that dfcclAllocate didn't give, and buffers that a run can't have. */
#include "c_api/misuse_worlds.h"

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

static void test(dfcclRankCtx_t c, dfcclRankCtx_t elsewhere) {
  memories(c, elsewhere);
  buffers(c);
}

int main(void) {
  in_both_worlds(test);
  return report();
}

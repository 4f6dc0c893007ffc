/* What was called without an id is named by the call wherever something is said of it. */
#include "c_api/processes.h"

enum { kElements = 3 };

static void expect_words(const char* text, const char* words) {
  CHECK(strstr(text, words) != NULL);
  if (strstr(text, words) == NULL) fprintf(stderr, "  missing: %s\n", words);
}

struct members {
  dfcclRankCtx_t ctx[3];
  dfcclGroup_t group[3];
};

/* Each submits the two in an order of its own, as training loops do that NCCL hangs in. */
static void rank_that_waits(int rank, void* shared) {
  struct members* all = shared;
  static float x[2][2][kElements];
  for (int i = 0; i < 2; i++) {
    const uint64_t tag = (uint64_t)(rank == i ? 7 : 8);
    CHECK_OK(
        dfcclAllReduce(x[rank][i], x[rank][i], kElements, dfcclFloat32, dfcclSum, all->group[rank], tag, NULL, NULL));
  }
  CHECK(dfcclWait(all->ctx[rank]) == dfcclDeadlock);
  const char* text = dfcclGetLastError();
  expect_words(text, "rank 0 executes all-reduce of 3 float32, sum, tag 7 (ranks 0, 1) and waits for rank 1");
  expect_words(text,
               "on rank 1 all-reduce of 3 float32, sum, tag 7 (ranks 0, 1) is queued behind all-reduce of 3 float32, "
               "sum, tag 8 (ranks 0, 1)");
}

static void a_deadlock_names_the_calls(void) {
  dfcclWorldConfig_t config = DFCCL_WORLD_CONFIG_INIT;
  config.ranks = 2;
  config.workers = DFCCL_NO_WORKERS;
  config.streams = 1;
  dfcclWorld_t world = NULL;
  struct members all;
  const int both[] = {0, 1};
  CHECK_OK(dfcclWorldCreate(&config, &world));
  for (int r = 0; r < 2; r++) {
    CHECK_OK(dfcclInitRank(world, r, &all.ctx[r]));
    CHECK_OK(dfcclGroupCreate(both, 2, 0, &all.group[r], all.ctx[r]));
  }
  on_threads(2, rank_that_waits, &all);
  for (int r = 0; r < 2; r++) CHECK_OK(dfcclGroupAbort(all.group[r]));
  CHECK_OK(dfcclWaitAll(all.ctx, 2));
  for (int r = 0; r < 2; r++) CHECK_OK(dfcclDestroy(all.ctx[r]));
  CHECK_OK(dfcclWorldDestroy(world));
}

/* The group's ranks are named as the world knows them, whatever their places are. */
static void timeouts_and_refusals_name_the_calls(void) {
  dfcclWorld_t world = open_world(3, DFCCL_NO_WORKERS);
  struct members all;
  const int two[] = {2, 0};
  for (int r = 0; r < 3; r++) CHECK_OK(dfcclInitRank(world, r, &all.ctx[r]));
  for (int r = 0; r < 3; r += 2) CHECK_OK(dfcclGroupCreate(two, 2, 0, &all.group[r], all.ctx[r]));
  float x[2][kElements] = {{0}}, y[2][kElements];
  char text[2048];
  CHECK_OK(dfcclBroadcast(x[0], y[0], kElements, dfcclFloat32, 1, all.group[0], 5, NULL, NULL));
  CHECK_OK(dfcclSend(x[0], kElements, dfcclFloat32, 0, all.group[0], 6, NULL, NULL));
  CHECK(dfcclWaitFor(1000, all.ctx[0]) == dfcclTimeout);
  snprintf(text, sizeof text, "%s", dfcclGetLastError());
  expect_words(text, " broadcast of 3 float32, root rank 0, tag 5 (ranks 2, 0), run 0: rank 2 has not submitted it.");
  expect_words(text, " send-recv of 3 float32, from rank 0 to rank 2, tag 6, run 0: rank 2 has not submitted it.");
  CHECK_OK(dfcclDescribe(text, sizeof text, all.ctx[0]));
  expect_words(text, "from rank 0 to rank 2, tag 6");
  CHECK(dfcclAllReduce(NULL, y[0], kElements, dfcclFloat32, dfcclMax, all.group[0], 9, NULL, NULL) ==
        dfcclInvalidArgument);
  expect_words(dfcclGetLastError(), "all-reduce of 3 float32, max, tag 9 (ranks 2, 0) on rank 0: the send buffer is");
  CHECK(dfcclAllReduce(x[0], y[0], SIZE_MAX / 64, dfcclFloat32, dfcclMax, all.group[0], 9, NULL, NULL) ==
        dfcclInvalidArgument);
  expect_words(dfcclGetLastError(), "float32, max, tag 9 (ranks 2, 0): count is");
  CHECK_OK(dfcclBroadcast(x[1], y[1], kElements, dfcclFloat32, 1, all.group[2], 5, NULL, NULL));
  CHECK_OK(dfcclRecv(x[1], kElements, dfcclFloat32, 1, all.group[2], 6, NULL, NULL));
  CHECK_OK(dfcclWaitAll(all.ctx, 3));
  for (int r = 0; r < 3; r++) CHECK_OK(dfcclDestroy(all.ctx[r]));
  CHECK_OK(dfcclWorldDestroy(world));
}

/* A group with a name is told apart from others of its ranks. Of many runs the first few are told of, and the others
 * counted. */
static void groups_are_named_and_the_rest_is_counted(void) {
  enum { kRuns = 40 };
  dfcclWorld_t world = open_world(2, DFCCL_NO_WORKERS);
  struct members all;
  for (int r = 0; r < 2; r++) {
    CHECK_OK(dfcclInitRank(world, r, &all.ctx[r]));
    CHECK_OK(dfcclGroupCreate(NULL, 0, 77, &all.group[r], all.ctx[r]));
  }
  float x[kRuns] = {0};
  dfcclRequest_t requests[kRuns];
  char text[2048];
  int named = 0, counted = 0;
  for (uint64_t i = 0; i < kRuns; i++) {
    CHECK_OK(dfcclAllReduce(&x[i], &x[i], 1, dfcclFloat32, dfcclSum, all.group[0], i, NULL, &requests[i]));
  }
  CHECK(dfcclWaitFor(1000, all.ctx[0]) == dfcclTimeout);
  snprintf(text, sizeof text, "%s", dfcclGetLastError());
  expect_words(text, "(ranks 0, 1), in group 77, run 0: rank 1 has not submitted it.");
  /* Where one of them is waited for, it comes first. */
  for (int i = 0; i < kRuns; i += kRuns - 1) {
    char asked[64];
    snprintf(asked, sizeof asked, "over. all-reduce of 1 float32, sum, tag %d (ranks 0, 1)", i);
    CHECK(dfcclWaitRun(requests[i], 1000) == dfcclTimeout);
    expect_words(dfcclGetLastError(), asked);
  }
  for (const char* at = text; (at = strstr(at, "has not submitted it")) != NULL; at++) named++;
  const char* rest = strstr(text, " And ");
  CHECK(rest != NULL && sscanf(rest, " And %d more.", &counted) == 1);
  CHECK(named > 2 && named + counted == kRuns);
  for (uint64_t i = 0; i < kRuns; i++) {
    CHECK_OK(dfcclAllReduce(&x[i], &x[i], 1, dfcclFloat32, dfcclSum, all.group[1], i, NULL, NULL));
  }
  CHECK_OK(dfcclWaitAll(all.ctx, 2));
  CHECK_OK(dfcclWaitRuns(requests, kRuns, 0));
  for (int r = 0; r < 2; r++) CHECK_OK(dfcclDestroy(all.ctx[r]));
  CHECK_OK(dfcclWorldDestroy(world));
}

/* Between processes too: in the timeout, and in the record that whoever looks on may ask for. */
static void rank_that_calls(dfcclRankCtx_t ctx, int rank, struct line line) {
  float x[kElements] = {1, 2, 3};
  dfcclGroup_t group = NULL;
  CHECK_OK(dfcclGroupCreate(NULL, 0, 0, &group, ctx));
  if (rank == 1) hear(line);
  CHECK_OK(dfcclAllReduce(x, x, kElements, dfcclFloat32, dfcclSum, group, 7, NULL, NULL));
  if (rank == 0) {
    CHECK(dfcclWaitFor(1000, ctx) == dfcclTimeout);
    expect_words(dfcclGetLastError(),
                 " all-reduce of 3 float32, sum, tag 7 (ranks 0, 1), run 0: rank 1 has not submitted it.");
    char path[64], record[4096] = "";
    snprintf(path, sizeof path, "/tmp/dfccl-names-%d", (int)getpid());
    CHECK_OK(dfcclWriteFlightRecord(path, ctx));
    FILE* file = fopen(path, "r");
    CHECK(file != NULL && fread(record, 1, sizeof record - 1, file) > 0);
    if (file != NULL) fclose(file);
    CHECK(unlink(path) == 0);
    expect_words(record, "\"desc\":\"all-reduce of 3 float32, sum, tag 7 (ranks 0, 1)\"");
    say(line);
  }
  CHECK_OK(dfcclWait(ctx));
  CHECK(x[0] == 2 && x[2] == 6);
}

static void processes_name_the_calls(void) {
  struct rank_process ranks[2];
  begin_ranks(ranks, rank_that_calls);
  hear(ranks[0].parent);
  say(ranks[1].parent);
  end_ranks(ranks);
}

int main(void) {
  processes_name_the_calls();
  a_deadlock_names_the_calls();
  timeouts_and_refusals_name_the_calls();
  groups_are_named_and_the_rest_is_counted();
  return report();
}

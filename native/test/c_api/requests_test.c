/* What requests say before, at and after the end of their runs. */
#include "c_api/check.h"

static void add_one(void* count, dfcclResult_t status) {
  if (status == dfcclSuccess) atomic_fetch_add((atomic_int*)count, 1);
}

struct own_end {
  dfcclRequest_t request;
  int is_over;
  dfcclResult_t tested, waited;
};

static void end_own(void* shared, dfcclResult_t status) {
  struct own_end* own = shared;
  (void)status;
  own->tested = dfcclTestRun(own->request, &own->is_over);
  own->waited = dfcclWaitRun(own->request, 0);
}

/* Within its callback it is over, whoever calls that, and may be given back. */
static void given_back_in_its_callback(dfcclRankCtx_t ctx[2], dfcclGroup_t group[2]) {
  struct own_end first = {0}, second = {0};
  CHECK_OK(dfcclBarrier(group[0], 9, NULL, &first.request));
  CHECK_OK(dfcclNotifyRun(first.request, end_own, &first));
  CHECK_OK(dfcclBarrier(group[1], 9, NULL, &second.request));
  while (dfcclTestRun(second.request, &second.is_over) == dfcclSuccess && !second.is_over) continue;
  second.is_over = 0;
  CHECK_OK(dfcclNotifyRun(second.request, end_own, &second));
  CHECK(second.is_over == 1 && second.tested == dfcclSuccess && second.waited == dfcclSuccess);
  CHECK(dfcclFreeRequest(second.request) == dfcclClosed);
  CHECK_OK(dfcclWaitAll(ctx, 2));
  CHECK(dfcclWaitRun(first.request, 0) == dfcclClosed);
  CHECK(first.is_over == 1 && first.tested == dfcclSuccess && first.waited == dfcclSuccess);
}

struct slow_end {
  dfcclRequest_t request;
  atomic_int has_begun, may_return;
  int gives_back;
};

static void end_slowly(void* shared, dfcclResult_t status) {
  struct slow_end* slow = shared;
  CHECK(status == dfcclSuccess);
  atomic_store(&slow->has_begun, 1);
  while (!atomic_load(&slow->may_return)) continue;
  if (slow->gives_back) CHECK_OK(dfcclFreeRequest(slow->request));
}

static void* notify_slowly(void* shared) {
  struct slow_end* slow = shared;
  CHECK_OK(dfcclNotifyRun(slow->request, end_slowly, slow));
  return NULL;
}

static void* let_return(void* shared) {
  atomic_store(&((struct slow_end*)shared)->may_return, 1);
  return NULL;
}

/* A wait lasts until the callback has returned, which may be of nobody's rank, and give the request back. */
static void waited_for_in_its_callback(void) {
  for (int gives_back = 0; gives_back < 2; gives_back++) {
    struct slow_end slow = {.gives_back = gives_back};
    pthread_t caller, releaser;
    CHECK_OK(dfcclBatchBegin());
    CHECK_OK(dfcclBatchEnd(&slow.request)); /* of nothing: over */
    const dfcclRequest_t request = slow.request;
    CHECK(pthread_create(&caller, NULL, notify_slowly, &slow) == 0);
    while (!atomic_load(&slow.has_begun)) continue;
    CHECK(dfcclWaitRun(request, 20000) == dfcclTimeout);
    CHECK(strstr(dfcclGetLastError(), "its callback has not returned") != NULL);
    CHECK(dfcclWaitRuns(&request, 1, 20000) == dfcclTimeout);
    CHECK(pthread_create(&releaser, NULL, let_return, &slow) == 0);
    CHECK(dfcclWaitRun(request, 0) == (gives_back ? dfcclClosed : dfcclSuccess));
    pthread_join(releaser, NULL);
    pthread_join(caller, NULL);
  }
}

/* One thread drives two ranks: what requests say before, at and after the end. */
static void requests(dfcclWorld_t world) {
  dfcclRankCtx_t ctx[2];
  dfcclGroup_t group[2];
  dfcclRequest_t first[2], second[2];
  float in[2] = {3, 4}, out[2] = {0, 0};
  const int both[] = {0, 1};
  for (int r = 0; r < 2; r++) {
    CHECK_OK(dfcclInitRank(world, r, &ctx[r]));
    CHECK_OK(dfcclGroupCreate(both, 2, 0, &group[r], ctx[r]));
  }
  atomic_int called = 0;
  int isOver = -1, index = -1;
  CHECK_OK(dfcclAllReduce(&in[0], &out[0], 1, dfcclFloat32, dfcclSum, group[0], 1, NULL, &first[0]));
  CHECK_OK(dfcclTestRun(first[0], &isOver));
  CHECK(isOver == 0);
  CHECK(dfcclGroupDestroy(group[0]) == dfcclInUse);
  CHECK(dfcclWaitRun(first[0], 20000) == dfcclTimeout);
  CHECK(strstr(dfcclGetLastError(), "all-reduce of 1 float32, sum, tag 1") != NULL);
  CHECK(strstr(dfcclGetLastError(), "rank 1 has not submitted it") != NULL);
  CHECK_OK(dfcclNotifyRun(first[0], add_one, &called));
  CHECK(dfcclNotifyRun(first[0], add_one, &called) == dfcclInUse);
  CHECK_OK(dfcclAllReduce(&in[1], &out[1], 1, dfcclFloat32, dfcclSum, group[1], 1, NULL, &first[1]));
  CHECK_OK(dfcclWaitRuns(first, 2, 0));
  CHECK(out[0] == 7 && out[1] == 7 && atomic_load(&called) == 1);
  CHECK(dfcclNotifyRun(first[0], add_one, &called) == dfcclClosed);
  CHECK(dfcclWaitRun(first[0], 0) == dfcclClosed);
  CHECK(dfcclFreeRequest(first[1]) == dfcclClosed);
  /* To itself: sent twice before it receives. */
  float to_itself[2] = {5, 6}, from_itself[2] = {0, 0};
  for (int i = 0; i < 2; i++) CHECK_OK(dfcclSend(&to_itself[i], 1, dfcclFloat32, 0, group[0], 4, NULL, &first[i]));
  for (int i = 0; i < 2; i++) CHECK_OK(dfcclRecv(&from_itself[i], 1, dfcclFloat32, 0, group[0], 4, NULL, &second[i]));
  CHECK_OK(dfcclWaitRuns(second, 2, 0));
  CHECK_OK(dfcclWaitRuns(first, 2, 0));
  CHECK(from_itself[0] == 5 && from_itself[1] == 6);
  /* The second is over first. */
  for (int r = 0; r < 2; r++)
    CHECK_OK(dfcclAllReduce(&in[r], &out[r], 1, dfcclFloat32, dfcclMax, group[r], 2, NULL, &second[r]));
  CHECK_OK(dfcclAllReduce(&in[0], &out[0], 1, dfcclFloat32, dfcclMin, group[0], 3, NULL, &first[0]));
  const dfcclRequest_t any[] = {NULL, first[0], second[0]};
  CHECK_OK(dfcclWaitAnyRun(any, 3, 0, &index));
  CHECK(index == 2);
  CHECK_OK(dfcclWaitAnyRun(any, 1, 0, &index));
  CHECK(index == -1);
  /* Rank 1's part may end a little later than rank 0's. */
  do CHECK_OK(dfcclTestRun(second[1], &isOver));
  while (isOver == 0);
  CHECK(isOver == 1);
  CHECK_OK(dfcclNotifyRun(second[1], add_one, &called)); /* over already: at once */
  CHECK(atomic_load(&called) == 2);
  CHECK_OK(dfcclFreeRequest(second[1]));
  CHECK_OK(dfcclFreeRequest(first[0])); /* its run goes on */
  CHECK(dfcclFreeRequest(first[0]) == dfcclClosed);
  CHECK_OK(dfcclAllReduce(&in[1], &out[1], 1, dfcclFloat32, dfcclMin, group[1], 3, NULL, NULL));
  CHECK_OK(dfcclWaitAll(ctx, 2));
  CHECK(out[0] == 3 && out[1] == 3);
  given_back_in_its_callback(ctx, group);
  for (int r = 0; r < 2; r++) CHECK_OK(dfcclDestroy(ctx[r]));
}

/* Handles of one kind are none of another's. */
static void no_other_kind_of_handle(dfcclWorld_t world) {
  dfcclRankCtx_t ctx = NULL;
  dfcclGroup_t group = NULL;
  dfcclRequest_t request = NULL;
  float x = 1;
  int number = 0;
  CHECK_OK(dfcclInitRank(world, 0, &ctx));
  CHECK_OK(dfcclGroupCreate(NULL, 0, 0, &group, ctx));
  CHECK_OK(dfcclAllReduce(&x, &x, 1, dfcclFloat32, dfcclSum, group, 0, NULL, &request));
  CHECK(dfcclTestRun((dfcclRequest_t)group, &number) == dfcclClosed);
  CHECK(dfcclFreeRequest((dfcclRequest_t)group) == dfcclClosed);
  CHECK(dfcclGroupGetRank(&number, (dfcclGroup_t)request) == dfcclClosed);
  CHECK(dfcclGroupAbort((dfcclGroup_t)request) == dfcclClosed);
  CHECK_OK(dfcclGroupAbort(group));
  CHECK(dfcclWaitRun(request, 0) == dfcclAborted);
  CHECK_OK(dfcclGroupDestroy(group));
  CHECK_OK(dfcclDestroy(ctx));
}

int main(void) {
  dfcclWorld_t world = open_world(2, 1);
  requests(world);
  no_other_kind_of_handle(world);
  waited_for_in_its_callback();
  CHECK_OK(dfcclWorldDestroy(world));
  return report();
}

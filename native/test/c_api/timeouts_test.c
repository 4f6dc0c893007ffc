/* What a wait says whose time is over: which call it is that waits, and for what. */
#include "c_api/joined_ranks.h"

enum { kRanks = 3, kPatience = 20000 };

struct member {
  dfcclRankCtx_t ctx;
  dfcclGroup_t group;
};

static int says(const char* words) { return strstr(dfcclGetLastError(), words) != NULL; }

/* A message to oneself of which a half is missing. */
static void half_messages(const struct member* self) {
  dfcclRequest_t sent = NULL, received = NULL;
  float x = 3, y = 0;
  CHECK_OK(dfcclSend(&x, 1, dfcclFloat32, 0, self->group, 9, NULL, &sent));
  CHECK(dfcclWaitRun(sent, kPatience) == dfcclTimeout);
  CHECK(says("send to itself of 1 float32, tag 9: rank 0 has not received it"));
  CHECK(says("dfcclGroupAbort"));
  CHECK_OK(dfcclRecv(&y, 1, dfcclFloat32, 0, self->group, 9, NULL, &received));
  CHECK_OK(dfcclWaitRun(sent, 0));
  CHECK_OK(dfcclWaitRun(received, 0));
  CHECK(y == 3);
  CHECK_OK(dfcclRecv(&y, 1, dfcclFloat32, 0, self->group, 8, NULL, &received));
  CHECK(dfcclWaitRun(received, kPatience) == dfcclTimeout);
  CHECK(says("receive from itself of 1 float32, tag 8: rank 0 has not sent it"));
  char text[1000];
  CHECK_OK(dfcclDescribe(text, sizeof text, self->ctx));
  CHECK(strstr(text, "tag 8: rank 0 has not sent it") != NULL);
  CHECK_OK(dfcclSend(&x, 1, dfcclFloat32, 0, self->group, 8, NULL, NULL));
  CHECK_OK(dfcclWaitRun(received, 0));
}

/* The last rank's call is another one than the others', who have agreed on theirs. */
static void disagree(const struct member* members, const char* difference, const char* other_way,
                     dfcclResult_t (*call)(int rank, dfcclGroup_t group, dfcclRequest_t* request)) {
  dfcclRequest_t requests[kRanks];
  dfcclGroup_t groups[kRanks];
  for (int r = 0; r < kRanks; r++) {
    CHECK_OK(dfcclGroupCreate(NULL, 0, 5, &groups[r], members[r].ctx));
    CHECK_OK(call(r, groups[r], &requests[r]));
  }
  CHECK(dfcclWaitRun(requests[0], kPatience) == dfcclTimeout);
  CHECK(says(difference));
  CHECK(!says("rank 1 has not submitted it"));
  CHECK(dfcclWaitRun(requests[2], kPatience) == dfcclTimeout);
  CHECK(says(other_way));
  for (int r = 0; r < kRanks; r++) CHECK_OK(dfcclGroupAbort(groups[r]));
  for (int r = 0; r < kRanks; r++) {
    CHECK(dfcclWaitRun(requests[r], 0) == dfcclAborted);
    CHECK_OK(dfcclGroupDestroy(groups[r]));
  }
}

static float in[16], out[48];

static dfcclResult_t of_counts(int rank, dfcclGroup_t group, dfcclRequest_t* request) {
  return dfcclAllReduce(in, out, rank == 2 ? 9 : 10, dfcclFloat32, dfcclSum, group, 7, NULL, request);
}
static dfcclResult_t of_operators(int rank, dfcclGroup_t group, dfcclRequest_t* request) {
  return dfcclAllReduce(in, out, 10, dfcclFloat32, rank == 2 ? dfcclMax : dfcclSum, group, 7, NULL, request);
}
static dfcclResult_t of_roots_and_types(int rank, dfcclGroup_t group, dfcclRequest_t* request) {
  return dfcclBroadcast(in, out, 10, rank == 2 ? dfcclInt32 : dfcclFloat32, rank == 2, group, 7, NULL, request);
}
static dfcclResult_t of_kinds(int rank, dfcclGroup_t group, dfcclRequest_t* request) {
  if (rank == 2) return dfcclAllGather(in, out, 10, dfcclFloat32, group, 7, NULL, request);
  return dfcclAllReduce(in, out, 10, dfcclFloat32, dfcclSum, group, 7, NULL, request);
}
static dfcclResult_t of_lists(int rank, dfcclGroup_t group, dfcclRequest_t* request) {
  const size_t counts[2][kRanks] = {{3, 0, 0}, {3, 0, 1}};
  return dfcclAllGatherV(in, out, counts[rank == 2], NULL, dfcclFloat32, group, 7, NULL, request);
}

/* The same where ranks are processes. */
static void be(int rank, const char* job) {
  const struct joined_rank joined = join_rank(job, rank, 2, 0);
  dfcclRequest_t request = NULL, met = NULL;
  CHECK_OK(dfcclSend(in, rank == 0 ? 4 : 5, dfcclFloat32, 1 - rank, joined.group, 1, NULL, NULL));
  CHECK_OK(dfcclAllReduce(in, out, rank == 0 ? 10 : 9, dfcclFloat32, dfcclSum, joined.group, 7, NULL, &request));
  CHECK_OK(dfcclBarrier(joined.group, 0, NULL, &met));
  CHECK_OK(dfcclWaitRun(met, 0));
  CHECK(dfcclWaitRun(request, kPatience) == dfcclTimeout);
  CHECK(says(rank == 0 ? "rank 1 has not submitted it, but one of count 9, not 10"
                       : "rank 0 has not submitted it, but one of count 10, not 9"));
  CHECK_OK(dfcclRecv(out, 7, dfcclFloat32, 1 - rank, joined.group, 1, NULL, NULL));
  CHECK(dfcclWaitFor(kPatience, joined.ctx) == dfcclTimeout);
  CHECK(says(rank == 0 ? "rank 1 has not submitted it, but one of count 5, not 7"
                       : "rank 0 has not submitted it, but one of count 4, not 7"));
  CHECK_OK(dfcclBarrier(joined.group, 1, NULL, &met));
  CHECK_OK(dfcclWaitRun(met, 0));
  CHECK_OK(dfcclGroupAbort(joined.group));
  CHECK(dfcclWaitRun(request, 0) == dfcclAborted);
  CHECK_OK(dfcclWait(joined.ctx));
  leave_world(joined);
}

int main(void) {
  pass_as_processes("timeouts", 2, be);
  dfcclWorld_t world = open_world(kRanks, DFCCL_NO_WORKERS);
  struct member members[kRanks];
  for (int r = 0; r < kRanks; r++) {
    CHECK_OK(dfcclInitRank(world, r, &members[r].ctx));
    CHECK_OK(dfcclGroupCreate(NULL, 0, 0, &members[r].group, members[r].ctx));
  }
  half_messages(&members[0]);
  disagree(members, "rank 2 has not submitted it, but one of count 9, not 10",
           "rank 0 has not submitted it, but one of count 10, not 9, rank 1 has", of_counts);
  disagree(members, "but one of operator max, not sum", "but one of operator sum, not max", of_operators);
  disagree(members, "but one of type int32, not float32 and root rank 1, not rank 0",
           "but one of type float32, not int32 and root rank 0, not rank 1", of_roots_and_types);
  disagree(members, "but one of kind all-gather, not all-reduce", "but one of kind all-reduce, not all-gather",
           of_kinds);
  disagree(members, "rank 2 has not submitted it, but one of other counts", "but one of other counts", of_lists);
  for (int r = 0; r < kRanks; r++) {
    CHECK_OK(dfcclGroupDestroy(members[r].group));
    CHECK_OK(dfcclDestroy(members[r].ctx));
  }
  CHECK_OK(dfcclWorldDestroy(world));
  return report();
}

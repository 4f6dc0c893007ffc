/* What a wait says whose time is over: which call it is that waits, and for what. */
#include "c_api/check.h"

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

int main(void) {
  dfcclWorld_t world = open_world(kRanks, DFCCL_NO_WORKERS);
  struct member members[kRanks];
  for (int r = 0; r < kRanks; r++) {
    CHECK_OK(dfcclInitRank(world, r, &members[r].ctx));
    CHECK_OK(dfcclGroupCreate(NULL, 0, 0, &members[r].group, members[r].ctx));
  }
  half_messages(&members[0]);
  for (int r = 0; r < kRanks; r++) {
    CHECK_OK(dfcclGroupDestroy(members[r].group));
    CHECK_OK(dfcclDestroy(members[r].ctx));
  }
  CHECK_OK(dfcclWorldDestroy(world));
  return report();
}

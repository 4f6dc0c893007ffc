/* Uneven collectives that differ in one member's count alone: in opposite orders, each rank gets what it asked for. */
#include "c_api/check.h"

enum { kRanks = 2, kKinds = 4 };

/* Rank 0's segment has the same count in both. */
static const size_t kLists[2][kRanks] = {{3, 5}, {3, 7}};

/* What a rank sends by a list is full of it. */
static int value_of(int list, int rank) { return 10 * (list + 1) + rank; }

static dfcclResult_t begin(dfcclGroup_t group, int kind, int list, int* in, int* out, dfcclRequest_t* request) {
  const size_t* counts = kLists[list];
  switch (kind) {
    case 0:
      return dfcclAllGatherV(in, out, counts, NULL, dfcclInt32, group, 0, NULL, request);
    case 1:
      return dfcclReduceScatterV(in, out, counts, dfcclInt32, dfcclSum, group, 0, NULL, request);
    case 2:
      return dfcclGatherV(in, out, counts, NULL, dfcclInt32, 1, group, 0, NULL, request);
    default:
      return dfcclScatterV(in, counts, NULL, out, dfcclInt32, 1, group, 0, NULL, request);
  }
}

/* What a rank has in the end of rank 0's segment; below 0: none of it. */
static int expected_of(int kind, int list, int rank) {
  switch (kind) {
    case 0:
      return value_of(list, 0);
    case 1:
      return rank == 0 ? value_of(list, 0) + value_of(list, 1) : -1;
    case 2:
      return rank == 1 ? value_of(list, 0) : -1;
    default:
      return rank == 0 ? value_of(list, 1) : -1;
  }
}

static void opposite_orders(const dfcclGroup_t* groups, int kind) {
  static int in[kRanks][2][16], out[kRanks][2][16];
  dfcclRequest_t requests[kRanks * 2];
  int begun = 0;
  for (int r = 0; r < kRanks; r++) {
    for (int i = 0; i < 2; i++) {
      const int list = r == 0 ? i : 1 - i;
      for (int k = 0; k < 16; k++) {
        in[r][list][k] = value_of(list, r);
        out[r][list][k] = -1;
      }
      CHECK_OK(begin(groups[r], kind, list, in[r][list], out[r][list], &requests[begun++]));
    }
  }
  CHECK_OK(dfcclWaitRuns(requests, begun, 0));
  for (int r = 0; r < kRanks; r++)
    for (int list = 0; list < 2; list++) {
      const int expected = expected_of(kind, list, r);
      CHECK(expected < 0 || out[r][list][0] == expected);
    }
}

int main(void) {
  dfcclWorld_t world = open_world(kRanks, DFCCL_NO_WORKERS);
  dfcclRankCtx_t ctx[kRanks];
  dfcclGroup_t groups[kRanks];
  for (int r = 0; r < kRanks; r++) {
    CHECK_OK(dfcclInitRank(world, r, &ctx[r]));
    CHECK_OK(dfcclGroupCreate(NULL, 0, 0, &groups[r], ctx[r]));
  }
  for (int kind = 0; kind < kKinds; kind++) opposite_orders(groups, kind);
  for (int r = 0; r < kRanks; r++) {
    CHECK_OK(dfcclGroupDestroy(groups[r]));
    CHECK_OK(dfcclDestroy(ctx[r]));
  }
  CHECK_OK(dfcclWorldDestroy(world));
  return report();
}

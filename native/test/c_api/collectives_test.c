/* Each collective does what its name says, in and out of place where NCCL allows that. */
#include "c_api/check.h"

enum { kRanks = 3, kCount = 1000, kRoot = 1 };

static dfcclWorld_t world;
static dfcclRankCtx_t ctx[kRanks];
static float in[kRanks][kRanks * kCount];
static float out[kRanks][kRanks * kCount];

/* Rank r's element i of segment s. */
static float value(int r, int s, int i) { return (float)(1 + r + 10 * s + 100 * (i % 7)); }

static void fill(void) {
  for (int r = 0; r < kRanks; r++) {
    for (int s = 0; s < kRanks; s++) {
      for (int i = 0; i < kCount; i++) {
        in[r][s * kCount + i] = value(r, s, i);
        out[r][s * kCount + i] = -1;
      }
    }
  }
}

static float sum_of(int s, int i) {
  float sum = 0;
  for (int r = 0; r < kRanks; r++) sum += value(r, s, i);
  return sum;
}

static void wait_all(void) { CHECK_OK(dfcclWaitAll(ctx, kRanks)); }

static void all_reduce(void) {
  for (int r = 0; r < kRanks; r++)
    CHECK_OK(dfcclRegisterAllReduce(kCount, dfcclFloat32, dfcclSum, 1, dfcclAllRanks(), 0, ctx[r]));
  for (int in_place = 0; in_place < 2; in_place++) {
    fill();
    for (int r = 0; r < kRanks; r++)
      CHECK_OK(dfcclRunAllReduce(in[r], in_place ? in[r] : out[r], 1, NULL, NULL, ctx[r]));
    wait_all();
    for (int r = 0; r < kRanks; r++) {
      int right = 0;
      for (int i = 0; i < kCount; i++) right += (in_place ? in : out)[r][i] == sum_of(0, i);
      CHECK(right == kCount);
    }
  }
}

static void all_gather(void) {
  for (int r = 0; r < kRanks; r++)
    CHECK_OK(dfcclRegisterAllGather(kCount, dfcclFloat32, 2, dfcclAllRanks(), 0, ctx[r]));
  for (int in_place = 0; in_place < 2; in_place++) {
    fill();
    for (int r = 0; r < kRanks; r++) {
      float* mine = out[r] + r * kCount;
      if (in_place) memcpy(mine, in[r], kCount * sizeof(float));
      CHECK_OK(dfcclRunAllGather(in_place ? mine : in[r], out[r], 2, NULL, NULL, ctx[r]));
    }
    wait_all();
    for (int r = 0; r < kRanks; r++) {
      int right = 0;
      for (int s = 0; s < kRanks; s++)
        for (int i = 0; i < kCount; i++) right += out[r][s * kCount + i] == value(s, 0, i);
      CHECK(right == kRanks * kCount);
    }
  }
}

static void reduce_scatter(void) {
  for (int r = 0; r < kRanks; r++)
    CHECK_OK(dfcclRegisterReduceScatter(kCount, dfcclFloat32, dfcclSum, 3, dfcclAllRanks(), 0, ctx[r]));
  for (int in_place = 0; in_place < 2; in_place++) {
    fill();
    for (int r = 0; r < kRanks; r++)
      CHECK_OK(dfcclRunReduceScatter(in[r], in_place ? in[r] + r * kCount : out[r], 3, NULL, NULL, ctx[r]));
    wait_all();
    for (int r = 0; r < kRanks; r++) {
      int right = 0;
      for (int i = 0; i < kCount; i++) right += (in_place ? in[r] + r * kCount : out[r])[i] == sum_of(r, i);
      CHECK(right == kCount);
    }
  }
}

static void reduce(void) {
  for (int r = 0; r < kRanks; r++)
    CHECK_OK(dfcclRegisterReduce(kCount, dfcclFloat32, dfcclMax, kRoot, 4, dfcclAllRanks(), 0, ctx[r]));
  fill();
  for (int r = 0; r < kRanks; r++) CHECK_OK(dfcclRunReduce(in[r], r == kRoot ? out[r] : NULL, 4, NULL, NULL, ctx[r]));
  wait_all();
  int right = 0;
  for (int i = 0; i < kCount; i++) right += out[kRoot][i] == value(kRanks - 1, 0, i);
  CHECK(right == kCount);
}

static void broadcast(void) {
  for (int r = 0; r < kRanks; r++)
    CHECK_OK(dfcclRegisterBroadcast(kCount, dfcclFloat32, kRoot, 5, dfcclAllRanks(), 0, ctx[r]));
  fill();
  for (int r = 0; r < kRanks; r++)
    CHECK_OK(dfcclRunBroadcast(r == kRoot ? in[r] : NULL, out[r], 5, NULL, NULL, ctx[r]));
  wait_all();
  for (int r = 0; r < kRanks; r++) CHECK(memcmp(out[r], in[kRoot], kCount * sizeof(float)) == 0);
}

static void all_to_all(void) {
  for (int r = 0; r < kRanks; r++) CHECK_OK(dfcclRegisterAllToAll(kCount, dfcclFloat32, 6, dfcclAllRanks(), 0, ctx[r]));
  fill();
  for (int r = 0; r < kRanks; r++) CHECK_OK(dfcclRunAllToAll(in[r], out[r], 6, NULL, NULL, ctx[r]));
  wait_all();
  for (int r = 0; r < kRanks; r++)
    for (int s = 0; s < kRanks; s++)
      CHECK(memcmp(out[r] + s * kCount, in[s] + r * kCount, kCount * sizeof(float)) == 0);
}

static void gather_and_scatter(void) {
  for (int r = 0; r < kRanks; r++) {
    CHECK_OK(dfcclRegisterGather(kCount, dfcclFloat32, kRoot, 7, dfcclAllRanks(), 0, ctx[r]));
    CHECK_OK(dfcclRegisterScatter(kCount, dfcclFloat32, kRoot, 8, dfcclAllRanks(), 0, ctx[r]));
  }
  fill();
  for (int r = 0; r < kRanks; r++) CHECK_OK(dfcclRunGather(in[r], r == kRoot ? out[r] : NULL, 7, NULL, NULL, ctx[r]));
  wait_all();
  for (int s = 0; s < kRanks; s++) CHECK(memcmp(out[kRoot] + s * kCount, in[s], kCount * sizeof(float)) == 0);
  fill();
  for (int r = 0; r < kRanks; r++) CHECK_OK(dfcclRunScatter(r == kRoot ? in[r] : NULL, out[r], 8, NULL, NULL, ctx[r]));
  wait_all();
  for (int r = 0; r < kRanks; r++) CHECK(memcmp(out[r], in[kRoot] + r * kCount, kCount * sizeof(float)) == 0);
}

/* Ranks 2 and 0, in that order: the sender's position is not its number. */
static void send_recv(void) {
  const int pair[] = {2, 0};
  const dfcclDevSet_t set = {pair, 2};
  CHECK_OK(dfcclRegisterSendRecv(kCount, dfcclFloat32, 0, 9, set, 0, ctx[0]));
  CHECK_OK(dfcclRegisterSendRecv(kCount, dfcclFloat32, 0, 9, set, 0, ctx[2]));
  fill();
  CHECK_OK(dfcclRunSendRecv(NULL, out[0], 9, NULL, NULL, ctx[0]));
  CHECK_OK(dfcclRunSendRecv(in[2], NULL, 9, NULL, NULL, ctx[2]));
  wait_all();
  CHECK(memcmp(out[0], in[2], kCount * sizeof(float)) == 0);
}

static void barrier(void) {
  for (int r = 0; r < kRanks; r++) CHECK_OK(dfcclRegisterBarrier(10, dfcclAllRanks(), 0, ctx[r]));
  for (int r = 0; r + 1 < kRanks; r++) CHECK_OK(dfcclRunBarrier(10, NULL, NULL, ctx[r]));
  CHECK(dfcclWaitFor(2000, ctx[0]) == dfcclTimeout);
  CHECK(strstr(dfcclGetLastError(), "rank 2 has not submitted it") != NULL);
  CHECK_OK(dfcclRunBarrier(10, NULL, NULL, ctx[kRanks - 1]));
  wait_all();
}

static void scaled_sum(void) {
  for (int r = 0; r < kRanks; r++) {
    CHECK_OK(dfcclSetScale(r + 2, ctx[r]));
    CHECK_OK(dfcclRegisterAllReduce(kCount, dfcclFloat32, dfcclScaledSum, 11, dfcclAllRanks(), 0, ctx[r]));
    CHECK_OK(dfcclSetScale(1, ctx[r]));
    for (int i = 0; i < kCount; i++) in[r][i] = 1;
  }
  for (int r = 0; r < kRanks; r++) CHECK_OK(dfcclRunAllReduce(in[r], out[r], 11, NULL, NULL, ctx[r]));
  wait_all();
  for (int r = 0; r < kRanks; r++) CHECK(count_equal(out[r], kCount, 2 + 3 + 4));
}

int main(void) {
  world = open_world(kRanks, 1);
  for (int r = 0; r < kRanks; r++) CHECK_OK(dfcclInitRank(world, r, &ctx[r]));
  all_reduce();
  all_gather();
  reduce_scatter();
  reduce();
  broadcast();
  all_to_all();
  gather_and_scatter();
  send_recv();
  barrier();
  scaled_sum();
  for (int r = 0; r < kRanks; r++) CHECK_OK(dfcclDestroy(ctx[r]));
  CHECK_OK(dfcclWorldDestroy(world));
  return report();
}

/* Listing 1 of the paper as a program has it: any order on any rank, with device synchronizations in between. */
#include "c_api/check.h"

enum { kRanks = 4, kCollectives = 24, kIterations = 12 };

static size_t count_of(int collective) { return 1 + (size_t)collective * 613; }

struct rank_data {
  dfcclRankCtx_t ctx;
  float* send[kCollectives];
  float* recv[kCollectives];
  unsigned random;
};

static void prepare(struct rank_data* data, int rank) {
  data->random = 17u + 7919u * (unsigned)rank;
  for (int c = 0; c < kCollectives; c++) {
    const size_t count = count_of(c);
    data->send[c] = malloc(count * sizeof(float));
    data->recv[c] = malloc(count * sizeof(float));
    for (size_t i = 0; i < count; i++) data->send[c][i] = (float)(rank + 1 + c);
    CHECK_OK(dfcclRegisterAllReduce(count, dfcclFloat32, dfcclSum, c, dfcclAllRanks(), c % 3, data->ctx));
  }
}

static void submit_all(struct rank_data* data, int synchronizes) {
  int order[kCollectives];
  shuffle(order, kCollectives, &data->random);
  for (int i = 0; i < kCollectives; i++) {
    const int c = order[i];
    memset(data->recv[c], 0, count_of(c) * sizeof(float));
    CHECK_OK(dfcclRunAllReduce(data->send[c], data->recv[c], c, NULL, NULL, data->ctx));
    if (synchronizes && next_random(&data->random) % 8 == 0) CHECK_OK(dfcclSynchronize(data->ctx));
  }
}

static void check_all(const struct rank_data* data) {
  for (int c = 0; c < kCollectives; c++) {
    const int sum = kRanks * c + kRanks * (kRanks + 1) / 2;
    CHECK(count_equal(data->recv[c], count_of(c), (float)sum));
  }
}

static void finish(struct rank_data* data) {
  CHECK_OK(dfcclDestroy(data->ctx));
  for (int c = 0; c < kCollectives; c++) {
    free(data->send[c]);
    free(data->recv[c]);
  }
}

static void rank_thread(int rank, void* shared) {
  struct rank_data data = {0};
  if (shared == NULL) {
    CHECK_OK(dfcclInit(&data.ctx, rank));
  } else {
    CHECK_OK(dfcclInitRank(shared, rank, &data.ctx));
  }
  prepare(&data, rank);
  for (int iteration = 0; iteration < kIterations; iteration++) {
    submit_all(&data, 1);
    CHECK_OK(dfcclWait(data.ctx));
    check_all(&data);
  }
  finish(&data);
}

static void one_thread_drives_all_ranks(int32_t workers) {
  dfcclWorld_t world = open_world(kRanks, workers);
  struct rank_data data[kRanks] = {{0}};
  dfcclRankCtx_t ctxs[kRanks];
  for (int r = 0; r < kRanks; r++) {
    CHECK_OK(dfcclInitRank(world, r, &data[r].ctx));
    ctxs[r] = data[r].ctx;
    prepare(&data[r], r);
  }
  for (int iteration = 0; iteration < kIterations; iteration++) {
    for (int r = 0; r < kRanks; r++) submit_all(&data[r], 1);
    CHECK_OK(dfcclWaitAll(ctxs, kRanks));
    for (int r = 0; r < kRanks; r++) check_all(&data[r]);
  }
  for (int r = 0; r < kRanks; r++) finish(&data[r]);
  CHECK_OK(dfcclWorldDestroy(world));
}

int main(void) {
  setenv("DFCCL_RANKS", "4", 1);
  on_threads(kRanks, rank_thread, NULL);
  for (int32_t workers = 1; workers <= 2; workers++) {
    dfcclWorld_t world = open_world(kRanks, workers);
    on_threads(kRanks, rank_thread, world);
    CHECK_OK(dfcclWorldDestroy(world));
    one_thread_drives_all_ranks(workers);
  }
  dfcclWorld_t unaided = open_world(kRanks, DFCCL_NO_WORKERS);
  on_threads(kRanks, rank_thread, unaided);
  CHECK_OK(dfcclWorldDestroy(unaided));
  one_thread_drives_all_ranks(DFCCL_NO_WORKERS);
  return report();
}

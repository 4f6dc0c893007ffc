/* What the C tests share: a count of checks, and ranks on threads. Plain C11. */
#ifndef DFCCL_TEST_CHECK_H
#define DFCCL_TEST_CHECK_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dfccl/dfccl.h"

static atomic_int passed, failed;

static inline void check(int holds, const char* what, const char* file, int line) {
  if (holds) {
    atomic_fetch_add(&passed, 1);
    return;
  }
  atomic_fetch_add(&failed, 1);
  fprintf(stderr, "%s:%d: %s does not hold. Last error: %s\n", file, line, what, dfcclGetLastError());
}

#define CHECK(condition) check((condition) != 0, #condition, __FILE__, __LINE__)
#define CHECK_OK(call) CHECK((call) == dfcclSuccess)

static inline int report(void) {
  printf("%d passed, %d failed\n", atomic_load(&passed), atomic_load(&failed));
  return atomic_load(&failed) == 0 ? 0 : 1;
}

/* xorshift: the tests' orders are the same in every run. */
static inline unsigned next_random(unsigned* state) {
  *state ^= *state << 13;
  *state ^= *state >> 17;
  *state ^= *state << 5;
  return *state;
}

static inline void shuffle(int* order, int count, unsigned* state) {
  for (int i = 0; i < count; i++) order[i] = i;
  for (int i = count - 1; i > 0; i--) {
    const int other = (int)(next_random(state) % (unsigned)(i + 1));
    const int kept = order[i];
    order[i] = order[other];
    order[other] = kept;
  }
}

static inline dfcclWorld_t open_world(uint32_t ranks, int32_t workers) {
  dfcclWorldConfig_t config = DFCCL_WORLD_CONFIG_INIT;
  config.ranks = ranks;
  config.workers = workers;
  config.submissionSlots = config.completionSlots = config.collectives = 256;
  config.arenaBytes = (size_t)64 << 20;
  dfcclWorld_t world = NULL;
  CHECK_OK(dfcclWorldCreate(&config, &world));
  return world;
}

typedef void (*rank_main_t)(int rank, void* shared);

struct rank_thread {
  pthread_t thread;
  rank_main_t main;
  int rank;
  void* shared;
};

static inline void* run_rank_thread(void* argument) {
  struct rank_thread* self = argument;
  self->main(self->rank, self->shared);
  return NULL;
}

/* Runs main(0), ..., main(ranks - 1) on a thread each. */
static inline void on_threads(int ranks, rank_main_t main, void* shared) {
  struct rank_thread threads[16];
  for (int r = 0; r < ranks; r++) {
    threads[r] = (struct rank_thread){.main = main, .rank = r, .shared = shared};
    CHECK(pthread_create(&threads[r].thread, NULL, run_rank_thread, &threads[r]) == 0);
  }
  for (int r = 0; r < ranks; r++) pthread_join(threads[r].thread, NULL);
}

static inline int count_equal(const float* values, size_t count, float expected) {
  size_t equal = 0;
  for (size_t i = 0; i < count; i++) equal += values[i] == expected;
  return equal == count;
}

#endif

/* A rank is killed, or stopped for a while and then killed, while large runs of ordinary memory are under way: the
 * others' runs end, and whatever they were told is complete has the right data. */
#include <signal.h>
#include <time.h>

#include "c_api/joined_ranks.h"

enum { kRanks = 4, kCount = 1 << 20, kDeaths = 12 };

static int expected(int kind, int round, int i) {
  switch (kind) {
    case 0:
      return kRanks * (i + round) + kRanks * (kRanks - 1) / 2;
    case 1:
      return round % kRanks + i + round;
    default:
      return i / (kCount / kRanks) + i % (kCount / kRanks) + round;
  }
}

/* Until a run is given up. @param told gets a byte when the first is over. */
static void be(int rank, const char* job, int told) {
  const dfcclGroup_t group = join_rank(job, rank, kRanks, 0).group;
  int* const in = malloc(kCount * sizeof *in);
  int* const out = malloc(kCount * sizeof *out);
  dfcclResult_t result = dfcclSuccess;
  for (int round = 0; result == dfcclSuccess; round++) {
    const int kind = round % 3;
    dfcclRequest_t request = NULL;
    for (int i = 0; i < kCount; i++) in[i] = rank + i + round, out[i] = -1;
    if (kind == 0) {
      result = dfcclAllReduce(in, out, kCount, dfcclInt32, dfcclSum, group, 0, NULL, &request);
    } else if (kind == 1) {
      result = dfcclBroadcast(in, out, kCount, dfcclInt32, round % kRanks, group, 0, NULL, &request);
    } else {
      result = dfcclAllGather(in, out, kCount / kRanks, dfcclInt32, group, 0, NULL, &request);
    }
    if (result == dfcclSuccess) result = dfcclWaitRun(request, 0);
    int wrong = 0;
    for (int i = 0; result == dfcclSuccess && i < kCount; i++) wrong += out[i] != expected(kind, round, i);
    CHECK(wrong == 0);
    if (round == 0) CHECK(write(told, "x", 1) == 1);
  }
  CHECK(result == dfcclAborted);
  free(in);
  free(out);
  _exit(report());
}

static void rest(unsigned micros) {
  const struct timespec time = {0, (long)micros * 1000};
  nanosleep(&time, NULL);
}

int main(void) {
  unsigned random = 88172645u;
  for (int death = 0; death < kDeaths; death++) {
    char job[64];
    pid_t pids[kRanks];
    int told[2];
    CHECK(pipe(told) == 0);
    snprintf(job, sizeof job, "lost-in-rings-%d-%d", (int)getpid(), death);
    for (int rank = 0; rank < kRanks; rank++) {
      pids[rank] = begin_rank();
      if (pids[rank] == 0) be(rank, job, told[1]);
    }
    close(told[1]);
    for (int rank = 0; rank < kRanks; rank++) {
      char x;
      CHECK(read(told[0], &x, 1) == 1);
    }
    /* At any moment from here on: that is what the test is about. */
    const int victim = (int)(next_random(&random) % kRanks);
    rest(next_random(&random) % 100000);
    if (death % 3 == 2) {
      CHECK(kill(pids[victim], SIGSTOP) == 0);
      rest(50000);
      CHECK(kill(pids[victim], SIGCONT) == 0);
      rest(next_random(&random) % 100000);
    }
    CHECK(kill(pids[victim], SIGKILL) == 0);
    for (int rank = 0; rank < kRanks; rank++) {
      CHECK(has_passed(pids[rank]) == (rank != victim));
    }
    close(told[0]);
  }
  return report();
}

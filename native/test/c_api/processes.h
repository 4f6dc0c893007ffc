/* For C tests whose ranks are processes: two children of the test, and a line to each. */
#ifndef DFCCL_TEST_PROCESSES_H
#define DFCCL_TEST_PROCESSES_H

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "c_api/check.h"

/* A rank's two ends of its line, as the child has them; of the other side, the parent's. */
struct line {
  int from, to;
};

struct rank_process {
  pid_t pid;
  struct line parent;
};

static inline void say(struct line line) { CHECK(write(line.to, "x", 1) == 1); }
/* Sleeps until the other side has said something; it fails when that has ended without. */
static inline void hear(struct line line) {
  char x;
  CHECK(read(line.from, &x, 1) == 1);
}

/* Places that each rank has for collectives. */
static uint32_t collectives_of_processes = 256;

typedef void (*rank_process_main_t)(dfcclRankCtx_t ctx, int rank, struct line line);

/* Joins the world of two ranks, and leaves it behind main. */
static inline void be_rank(const char* job, int rank, rank_process_main_t main, struct line line) {
  dfcclJoinConfig_t config = DFCCL_JOIN_CONFIG_INIT;
  config.world.ranks = 2;
  config.world.submissionSlots = config.world.completionSlots = 256;
  config.world.collectives = collectives_of_processes;
  config.world.arenaBytes = (size_t)64 << 20;
  config.job = job;
  config.rank = rank;
  dfcclWorld_t world = NULL;
  dfcclRankCtx_t ctx = NULL;
  int joined_as = -1;
  CHECK_OK(dfcclJoinWorld(&config, &world, &joined_as));
  CHECK(joined_as == rank);
  CHECK_OK(dfcclInitRank(world, rank, &ctx));
  main(ctx, rank, line);
  CHECK_OK(dfcclDestroy(ctx));
  CHECK_OK(dfcclWorldDestroy(world));
}

/* Begins both, before this process has used the library. */
static inline void begin_ranks(struct rank_process ranks[2], rank_process_main_t main) {
  static int count;
  char job[64];
  snprintf(job, sizeof job, "c-test-%d-%d", (int)getpid(), count++);
  for (int rank = 0; rank < 2; rank++) {
    int down[2], up[2];
    CHECK(pipe(down) == 0 && pipe(up) == 0);
    fflush(NULL);
    ranks[rank].pid = fork();
    CHECK(ranks[rank].pid >= 0);
    if (ranks[rank].pid == 0) {
      /* None outlives a test that has failed. */
      alarm(120);
      atomic_store(&passed, 0);
      atomic_store(&failed, 0);
      close(down[1]);
      close(up[0]);
      be_rank(job, rank, main, (struct line){down[0], up[1]});
      exit(report());
    }
    close(down[0]);
    close(up[1]);
    ranks[rank].parent = (struct line){up[0], down[1]};
  }
}

static inline void end_ranks(struct rank_process ranks[2]) {
  for (int rank = 0; rank < 2; rank++) {
    int status = -1;
    CHECK(waitpid(ranks[rank].pid, &status, 0) == ranks[rank].pid);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    close(ranks[rank].parent.from);
    close(ranks[rank].parent.to);
  }
}

#endif

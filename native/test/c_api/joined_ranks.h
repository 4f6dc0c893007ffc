/* For C tests whose ranks are any number of processes that call without registering. */
#ifndef DFCCL_TEST_JOINED_RANKS_H
#define DFCCL_TEST_JOINED_RANKS_H

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "c_api/check.h"
#include "dfccl/groups.h"

/* A rank of a world, and the group of all its ranks. */
struct joined_rank {
  dfcclWorld_t world;
  dfcclRankCtx_t ctx;
  dfcclGroup_t group;
};

/* arena: bytes; 0: as many as by default. */
static inline struct joined_rank join_rank(const char* job, int rank, int ranks, size_t arena) {
  struct joined_rank joined = {NULL, NULL, NULL};
  dfcclJoinConfig_t config = DFCCL_JOIN_CONFIG_INIT;
  config.world.ranks = (uint32_t)ranks;
  if (arena != 0) config.world.arenaBytes = arena;
  config.job = job;
  config.rank = rank;
  CHECK_OK(dfcclJoinWorld(&config, &joined.world, NULL));
  CHECK_OK(dfcclInitRank(joined.world, rank, &joined.ctx));
  CHECK_OK(dfcclGroupCreate(NULL, 0, 0, &joined.group, joined.ctx));
  return joined;
}

static inline void leave_world(struct joined_rank joined) {
  CHECK_OK(dfcclDestroy(joined.ctx));
  CHECK_OK(dfcclWorldDestroy(joined.world));
}

/* A process for a rank, before this one has used the library. What comes back in it is 0: it must end with exit(). */
static inline pid_t begin_rank(void) {
  fflush(NULL);
  const pid_t pid = fork();
  CHECK(pid >= 0);
  if (pid == 0) alarm(240); /* none outlives a test that has failed */
  return pid;
}

/* What a process that has ended says of itself. */
static inline int has_passed(pid_t pid) {
  int status = -1;
  CHECK(waitpid(pid, &status, 0) == pid);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* All ranks of a job of that name and of this process's, each a process, until they have passed. */
static inline void pass_as_processes(const char* name, int ranks, void (*be)(int rank, const char* job)) {
  char job[64];
  pid_t pids[16];
  snprintf(job, sizeof job, "%s-%d", name, (int)getpid());
  CHECK(ranks <= (int)(sizeof pids / sizeof *pids));
  for (int rank = 0; rank < ranks; rank++) {
    pids[rank] = begin_rank();
    if (pids[rank] == 0) {
      be(rank, job);
      exit(report());
    }
  }
  for (int rank = 0; rank < ranks; rank++) CHECK(has_passed(pids[rank]));
}

#endif

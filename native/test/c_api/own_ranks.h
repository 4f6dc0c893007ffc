/* Ranks that are all of one thread's, for which nobody else works: what its calls do not do is never done. */
#ifndef DFCCL_TEST_OWN_RANKS_H
#define DFCCL_TEST_OWN_RANKS_H

#include "c_api/check.h"

enum { kRanks = 3 };

struct ranks {
  dfcclWorld_t world;
  dfcclRankCtx_t ctx[kRanks];
  dfcclGroup_t group[kRanks]; /* of all of them */
};

/* slots of its queues; 0: as many as by default. */
static inline struct ranks enter(uint32_t collectives, uint32_t slots) {
  struct ranks ranks;
  dfcclWorldConfig_t config = DFCCL_WORLD_CONFIG_INIT;
  config.ranks = kRanks;
  config.workers = DFCCL_NO_WORKERS;
  config.collectives = collectives;
  if (slots != 0) config.submissionSlots = config.completionSlots = slots;
  CHECK_OK(dfcclWorldCreate(&config, &ranks.world));
  for (int r = 0; r < kRanks; r++) {
    CHECK_OK(dfcclInitRank(ranks.world, r, &ranks.ctx[r]));
    CHECK_OK(dfcclGroupCreate(NULL, 0, 0, &ranks.group[r], ranks.ctx[r]));
  }
  return ranks;
}

static inline void leave(struct ranks* ranks) {
  for (int r = 0; r < kRanks; r++) CHECK_OK(dfcclDestroy(ranks->ctx[r]));
  CHECK_OK(dfcclWorldDestroy(ranks->world));
}

#endif

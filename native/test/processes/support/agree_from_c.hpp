#pragma once
// Two ranks that agree through the C API, the second only once the first has lost patience.
#include "dfccl/dfccl.h"
#include "processes/support/contains.hpp"
#include "processes/support/processes.hpp"
#include "processes/support/shared_count.hpp"

namespace dfccl::test {

/// In the process of either rank.
inline int agreeFromC(const dfcclJoinConfig_t& config, SharedCount& timedOut) {
  dfcclWorld_t world = nullptr;
  dfcclRankCtx_t ctx = nullptr;
  int rank = -1, ranks[2]{}, count = 0;
  if (dfcclJoinWorld(&config, &world, &rank) != dfcclSuccess) return kThrew;
  if (dfcclInitRank(world, rank, &ctx) != dfcclSuccess) return kThrew;
  if (rank == 0) {
    if (dfcclAgreeOnSurvivors(1, ranks, 2, &count, ctx) != dfcclTimeout) return kWrong;
    if (!contains(dfcclGetLastError(), "rank 1 didn't come")) return kWrong;
    timedOut.add(1);
  } else if (!timedOut.await(1)) {
    return kWrong;
  }
  if (dfcclAgreeOnSurvivors(0, ranks, 2, &count, ctx) != dfcclSuccess) return kWrong;
  const bool isRight = count == 2 && ranks[0] == 0 && ranks[1] == 1;
  return dfcclDestroy(ctx) == dfcclSuccess && dfcclWorldDestroy(world) == dfcclSuccess && isRight ? kFine : kWrong;
}

}  // namespace dfccl::test

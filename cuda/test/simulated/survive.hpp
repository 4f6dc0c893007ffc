#pragma once
// What ranks do of whom one is lost.
#include <unistd.h>

#include <vector>

#include "simulated/joined_rank.hpp"
#include "simulated/lose_rank.hpp"

namespace dfccl::gpu::simulated::test {

/// Reduces under id 1 until a rank is gone. Rank 1 says when it has done so for a while.
inline int workUntilLost(Joined& me, int32_t* in, int32_t* out, size_t count, int ready) {
  fill(in, count, me.rank, 0);
  OK(dfcclRegisterAllReduce(count, dfcclInt32, dfcclSum, 1, dfcclAllRanks(), 0, me.context));
  dfcclResult_t status = dfcclSuccess;
  const auto note = [](void* at, dfcclResult_t result) { *static_cast<dfcclResult_t*>(at) = result; };
  for (int run = 0; status == dfcclSuccess; ++run) {
    OK(dfcclRun(in, out, 1, note, &status, me.context));
    OK(dfcclWaitFor(kLimitMicros, me.context));
    if (status == dfcclSuccess) EXPECT(isSum(out, count, firstRanks(me.ranks), 0));
    if (me.rank == 1 && run == 20) EXPECT(write(ready, "x", 1) == 1);
  }
  EXPECT(status == dfcclAborted);
  return kFine;
}

/// Works until rank 1 is gone, then goes on without it.
inline int survive(Joined& me, size_t count, int ready) {
  int32_t *in = allocate(count), *out = allocate(count);
  if (const int failed = workUntilLost(me, in, out, count, ready); failed != kFine) return failed;
  int lost[4], lostCount = 0;
  // Each judges for itself who is gone, and the other may have done so first.
  while (lostCount == 0) OK(dfcclGetLostRanks(lost, 4, &lostCount, me.context));
  EXPECT(lostCount == 1);
  EXPECT(lost[0] == 1);
  OK(dfcclUnregister(1, me.context));
  std::vector<int> survivors(4);
  int survivorCount = 0;
  OK(dfcclAgreeOnSurvivors(kLimitMicros, survivors.data(), 4, &survivorCount, me.context));
  survivors.resize(static_cast<size_t>(survivorCount));
  EXPECT((survivors == std::vector<int>{0, 2}));
  const dfcclDevSet_t set = {survivors.data(), 2};
  OK(dfcclRegisterAllReduce(count, dfcclInt32, dfcclSum, 2, set, 0, me.context));
  OK(dfcclRun(in, out, 2, nullptr, nullptr, me.context));
  OK(dfcclWaitFor(kLimitMicros, me.context));
  EXPECT(isSum(out, count, survivors, 0));
  OK(dfcclUnregister(2, me.context));
  return leave(me);
}

}  // namespace dfccl::gpu::simulated::test

// Waiting, polling, synchronizing, counting.
#include <cstring>
#include <string>
#include <vector>

#include "c_api/last_error.hpp"
#include "c_api/waiting.hpp"

using namespace dfccl;
using namespace dfccl::c_api;

extern "C" {

dfcclResult_t dfcclWait(dfcclRankCtx_t ctx) { return dfcclWaitFor(0, ctx); }

dfcclResult_t dfcclWaitFor(uint64_t timeoutMicros, dfcclRankCtx_t ctx) {
  return guarded([&] {
    RankContext* const mine[] = {&contextOf(ctx)};
    waitForRuns(mine, timeoutMicros);
    return dfcclSuccess;
  });
}

dfcclResult_t dfcclWaitAll(const dfcclRankCtx_t* ctxs, int count) {
  return guarded([&] {
    if (count < 0 || (ctxs == nullptr && count != 0)) {
      refuseArgument("The list of contexts is null, or its length is " + std::to_string(count) + ".",
                     "Pass as many contexts as you say.");
    }
    if (count == 0) return dfcclSuccess;
    constexpr size_t kFew = 64;
    RankContext* few[kFew];
    std::vector<RankContext*> many;
    const auto size = static_cast<size_t>(count);
    if (size > kFew) many.resize(size);
    RankContext** mine = size > kFew ? many.data() : few;
    for (size_t i = 0; i < size; ++i) {
      mine[i] = &contextOf(ctxs[i]);
      if (&mine[i]->openWorld() != &mine[0]->openWorld())
        refuseArgument("The contexts are of different worlds.", "Wait for each world's ranks by themselves.");
    }
    waitForRuns({mine, size}, 0);
    return dfcclSuccess;
  });
}

dfcclResult_t dfcclPoll(int* delivered, dfcclRankCtx_t ctx) {
  return guarded([&] {
    RankContext* const mine[] = {&contextOf(ctx)};
    Waiting(mine, 0).help();
    const uint32_t count = mine[0]->rank().deliver();
    if (delivered != nullptr) *delivered = static_cast<int>(count);
    return dfcclSuccess;
  });
}

dfcclResult_t dfcclSynchronize(dfcclRankCtx_t ctx) {
  return guarded([&] {
    synchronize(contextOf(ctx));
    return dfcclSuccess;
  });
}

dfcclResult_t dfcclGetCounters(dfcclCounters_t* counters, dfcclRankCtx_t ctx) {
  return guarded([&] {
    RankContext& context = contextOf(ctx);
    if (counters == nullptr || counters->structSize < sizeof(size_t))
      refuseArgument("The counters are null, or their structSize is not set.", "Set structSize to sizeof *counters.");
    const RankMemory& memory = context.rank().memory();
    dfcclCounters_t c{};
    c.launches = memory.counters.launches.read();
    c.quits = memory.counters.quits.read();
    c.runsTaken = memory.counters.submissionsTaken.read();
    c.runsCompleted = memory.counters.completionsPosted.read();
    for (const BlockMemory& block : memory.blocks) {
      c.visits += block.counters.visits.read();
      c.stuckVisits += block.counters.stuckVisits.read();
      c.slices += block.counters.slices.read();
      c.preemptions += block.counters.preemptions.read();
      c.contextLoads += block.counters.contextLoads.read();
      c.contextSaves += block.counters.contextSaves.read();
      c.queueLengthSum += block.counters.queueLengthSum.read();
      c.queueLengthMaximum = std::max(c.queueLengthMaximum, block.counters.queueLengthMax.read());
      c.bytesMoved += block.counters.bytesMoved.read();
    }
    c.runsInFlight = context.rank().inFlight();
    c.collectiveBytes = context.collectiveBytes();
    c.arenaBytesUsed = context.world().arenaUsedBytes();
    c.structSize = std::min(counters->structSize, sizeof c);
    std::memcpy(counters, &c, c.structSize);
    return dfcclSuccess;
  });
}
}

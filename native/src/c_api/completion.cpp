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
    checkContextList(ctxs, count);
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
    const uint32_t count = mine[0]->queues().deliver();
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
    const CounterReading reading = context.backend().readCounters(context.number());
    dfcclCounters_t c{};
    c.launches = reading.rank.launches.read();
    c.quits = reading.rank.quits.read();
    c.runsTaken = reading.rank.submissionsTaken.read();
    c.runsCompleted = reading.rank.completionsPosted.read();
    for (const BlockCounters& block : reading.blocks) {
      c.visits += block.visits.read();
      c.stuckVisits += block.stuckVisits.read();
      c.slices += block.slices.read();
      c.preemptions += block.preemptions.read();
      c.contextLoads += block.contextLoads.read();
      c.contextSaves += block.contextSaves.read();
      c.queueLengthSum += block.queueLengthSum.read();
      c.queueLengthMaximum = std::max(c.queueLengthMaximum, block.queueLengthMax.read());
      c.bytesMoved += block.bytesMoved.read();
    }
    c.runsInFlight = context.queues().inFlight();
    c.collectiveBytes = context.collectiveBytes();
    c.arenaBytesUsed = context.backend().arenaUsedBytes();
    c.structSize = std::min(counters->structSize, sizeof c);
    std::memcpy(counters, &c, c.structSize);
    return dfcclSuccess;
  });
}
}

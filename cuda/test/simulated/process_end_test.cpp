// Processes that end with their worlds open.
#include <doctest/doctest.h>

#include <chrono>
#include <cstdlib>
#include <thread>

#include "simulated/joined_rank.hpp"

using namespace dfccl::gpu::simulated::test;

namespace {

/// Ends while a run lacks the other rank, for which daemons are started again and again.
int endUnfinished(const std::string& job, uint32_t rank) {
  Joined me;
  EXPECT(join(me, job, rank, 2) == kFine);
  constexpr size_t kCount = 100;
  int32_t *in = allocate(kCount), *out = allocate(kCount);
  fill(in, kCount, me.rank, 0);
  OK(dfcclRegisterAllReduce(kCount, dfcclInt32, dfcclSum, 1, dfcclAllRanks(), 0, me.context));
  OK(dfcclRegisterAllReduce(kCount, dfcclInt32, dfcclSum, 2 + me.rank, dfcclAllRanks(), 0, me.context));
  OK(dfcclRun(in, out, 1, nullptr, nullptr, me.context));
  OK(dfcclWaitFor(kLimitMicros, me.context));
  OK(dfcclRun(in, out, 2 + me.rank, nullptr, nullptr, me.context));
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  std::exit(kFine);
}

}  // namespace

TEST_CASE("a process may end with its world open and runs that never come to an end") {
  for (int time = 0; time < 5; ++time) {
    const std::string job = newJob();
    Processes processes(2, [&](uint32_t rank) { return endUnfinished(job, rank); });
    checkAllFine(processes, 2);
  }
}

// Processes that end with their worlds open.
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "simulated/joined_rank.hpp"

using namespace dfccl::gpu::simulated::test;

namespace {

/// Those of the library's own that call CUDA. One that ends meanwhile has no name any more.
bool isAnyCallerThere() {
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string name;
    std::ifstream comm(task.path() / "comm");
    std::getline(comm, name);
    if (name == "dfccl keeper" || name == "dfccl mapper" || name == "dfccl server") return true;
  }
  return false;
}

dfcclCounters_t countersOf(dfcclRankCtx_t context) {
  dfcclCounters_t counters{};
  counters.structSize = sizeof counters;
  dfcclGetCounters(&counters, context);
  return counters;
}

/// Ends while a run lacks the other rank, for which daemons are started again and again.
int endUnfinished(const std::string& job, uint32_t rank) {
  // Before CUDA's runtime is there, so that it comes after its end: whoever goes on calling it has the time to do so.
  std::atexit([] {
    while (isAnyCallerThere()) std::this_thread::yield();
  });
  Joined me;
  EXPECT(join(me, job, rank, 2) == kFine);
  constexpr size_t kCount = 100;
  int32_t *in = allocate(kCount), *out = allocate(kCount);
  fill(in, kCount, me.rank, 0);
  OK(dfcclRegisterAllReduce(kCount, dfcclInt32, dfcclSum, 1, dfcclAllRanks(), 0, me.context));
  OK(dfcclRegisterAllReduce(kCount, dfcclInt32, dfcclSum, 2 + me.rank, dfcclAllRanks(), 0, me.context));
  OK(dfcclRun(in, out, 1, nullptr, nullptr, me.context));
  OK(dfcclWaitFor(kLimitMicros, me.context));
  const uint64_t launches = countersOf(me.context).launches;
  OK(dfcclRun(in, out, 2 + me.rank, nullptr, nullptr, me.context));
  // The other one may have ended first; then the run is given up, and no daemon is started for it any more.
  for (dfcclCounters_t now = countersOf(me.context); now.launches < launches + 2 && now.runsInFlight != 0;
       now = countersOf(me.context)) {
    std::this_thread::yield();
  }
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

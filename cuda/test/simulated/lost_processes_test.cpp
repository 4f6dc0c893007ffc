// Ranks that are processes and end, or fall silent, while others wait for them.
#include <doctest/doctest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>

#include "simulated/survive.hpp"

using namespace dfccl::gpu::simulated::test;

namespace {

/// The sum of what the ranks have, from a graph that is launched until rank 1 is gone.
int surviveInGraphs(const std::string& job, uint32_t rank, uint32_t ranks, size_t count, int ready) {
  Joined me;
  EXPECT(join(me, job, rank, ranks, 1500) == kFine);
  int32_t *in = allocate(count), *out = allocate(count);
  OK(dfcclRegisterAllReduce(count, dfcclInt32, dfcclSum, 1, dfcclAllRanks(), 0, me.context));
  cudaStream_t stream = nullptr;
  EXPECT(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess);
  EXPECT(cudaMemsetAsync(out, 0, sizeof *out, stream) == cudaSuccess);
  EXPECT(cudaStreamSynchronize(stream) == cudaSuccess);
  EXPECT(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed) == cudaSuccess);
  OK(dfcclRunOnStream(in, out, 1, stream, nullptr, nullptr, me.context));
  OK(dfcclWaitOnStream(1, stream, me.context));
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t launched = nullptr;
  EXPECT(cudaStreamEndCapture(stream, &graph) == cudaSuccess);
  EXPECT(cudaGraphInstantiate(&launched, graph, 0) == cudaSuccess);
  fill(in, count, me.rank, 0);
  uint64_t ended = 0;
  for (int run = 0; ended == 0; ++run) {
    EXPECT(cudaGraphLaunch(launched, stream) == cudaSuccess);
    EXPECT(cudaStreamSynchronize(stream) == cudaSuccess);
    OK(dfcclGetEndedCapturedRuns(&ended, me.context));
    if (ended == 0) EXPECT(isSum(out, count, firstRanks(me.ranks), 0));
    if (rank == 1 && run == 20) EXPECT(write(ready, "x", 1) == 1);
  }
  int lost[4], lostCount = 0;
  OK(dfcclGetLostRanks(lost, 4, &lostCount, me.context));
  EXPECT(lostCount >= 1);  // the other survivor may have left by now
  EXPECT(std::find(lost, lost + lostCount, 1) != lost + lostCount);
  // What is launched from now on ends at once.
  EXPECT(cudaGraphLaunch(launched, stream) == cudaSuccess);
  EXPECT(cudaStreamSynchronize(stream) == cudaSuccess);
  EXPECT(cudaGraphExecDestroy(launched) == cudaSuccess);
  EXPECT(cudaGraphDestroy(graph) == cudaSuccess);
  OK(dfcclUnregister(1, me.context));
  return leave(me);
}

}  // namespace

TEST_CASE("launches that wait for a rank which is killed, or stopped for too long, end, and the host is told") {
  for (const int signal : {SIGKILL, SIGSTOP}) {
    CAPTURE(signal);
    const std::string job = newJob();
    loseRank1(signal, [&](uint32_t rank, int ready) { return surviveInGraphs(job, rank, 3, 1000, ready); });
  }
}

TEST_CASE("a rank that is killed, or stopped for too long, is named; the others go on without it") {
  for (const int signal : {SIGKILL, SIGSTOP}) {
    for (const size_t count : {1000ul, 400'000ul}) {
      CAPTURE(signal);
      CAPTURE(count);
      const std::string job = newJob();
      loseRank1(signal, [&](uint32_t rank, int ready) -> int {
        Joined me;
        EXPECT(join(me, job, rank, 3, 1500) == kFine);
        return survive(me, count, ready);
      });
    }
  }
}

// What graphs can't have, and what becomes of those whose collectives have ended.
#include <algorithm>
#include <string>

#include "graphs.hpp"
#include "stream_members.hpp"

using namespace dfccl::gpu::test;

namespace {

uint64_t endedRuns(dfcclRankCtx_t context) {
  uint64_t ended = 0;
  CHECK_OK(dfcclGetEndedCapturedRuns(&ended, context));
  return ended;
}

/// No rank has the greatest everywhere: whoever came to a result has other values then.
Values valuesOf(ptrdiff_t rank) {
  Values values(100, static_cast<int32_t>(rank));
  for (size_t i = 0; i < values.size(); i += 2) values[i] = -values[i];
  return values;
}

}  // namespace

TEST_CASE("what a graph can't have is refused, with a sentence") {
  const GpuRanks ranks;
  registerOnAll(ranks, 1, 10);
  const Captured c(ranks.device(0), 10, 10);
  const Stream other(ranks.device(0));
  Barrier barrier;
  const auto isRefused = [](dfcclResult_t result, dfcclResult_t wanted, const char* because) {
    CHECK(result == wanted);
    INFO(dfcclGetLastError());
    CHECK(std::string(dfcclGetLastError()).find(because) != std::string::npos);
  };
  cudaSetDevice(ranks.device(0));
  REQUIRE(cudaStreamBeginCapture(c.stream, cudaStreamCaptureModeRelaxed) == cudaSuccess);
  isRefused(dfcclRunOnStream(
                c.send.data(), c.recv.data(), 1, c.stream, [](void*, dfcclResult_t) {}, nullptr, ranks[0]),
            dfcclInvalidArgument, "callback");
  isRefused(dfcclWaitOnStream(1, c.stream, ranks[0]), dfcclInvalidArgument, "before the capture");
  isRefused(dfcclRunOnStream(nullptr, c.recv.data(), 1, c.stream, nullptr, nullptr, ranks[0]), dfcclInvalidArgument,
            "null");
  CHECK_OK(dfcclRunOnStream(c.send.data(), c.recv.data(), 1, c.stream, nullptr, nullptr, ranks[0]));
  REQUIRE(cudaStreamBeginCapture(other, cudaStreamCaptureModeRelaxed) == cudaSuccess);
  isRefused(dfcclWaitOnStream(1, other, ranks[0]), dfcclInvalidArgument, "another graph");
  for (const cudaStream_t stream : {static_cast<cudaStream_t>(c.stream), static_cast<cudaStream_t>(other)}) {
    cudaGraph_t graph = nullptr;
    REQUIRE(cudaStreamEndCapture(stream, &graph) == cudaSuccess);
    cudaGraphDestroy(graph);
  }
}

TEST_CASE("a launch ends, without a result, whose collective is given up, unregistered, or of a world that is gone") {
  enum class End { abort, unregister, destroy };
  for (const End end : {End::abort, End::unregister, End::destroy}) {
    std::vector<Captured> captured;
    {
      const GpuRanks ranks;
      registerOnAll(ranks, 1, 100);
      for (int r = 0; r < ranks.size(); ++r) {
        Captured& c = captured.emplace_back(ranks.device(r), 100, 100);
        c.send.set(valuesOf(r));
        c.graph.push_back(captureChain(ranks, r, {1}, c.send, c.stream));
      }
      for (const Captured& c : captured) c.graph[0].launch(c.stream);
      for (const Captured& c : captured) REQUIRE(c.stream.synchronize());
      for (int r = 0; r < ranks.size(); ++r) CHECK(endedRuns(ranks[r]) == 0);
      for (int r = 0; r < ranks.size(); ++r) captured[static_cast<size_t>(r)].send.set(valuesOf(r));
      if (end == End::abort) {
        // One waits for the others, which will not come.
        captured[0].graph[0].launch(captured[0].stream);
        CHECK_OK(dfcclAbort(1, ranks[1]));
        REQUIRE(captured[0].stream.synchronize());
        for (int r = 0; r < ranks.size(); ++r) {
          for (int isOver = 0; isOver == 0;) CHECK_OK(dfcclIsQuarantineOver(1, &isOver, ranks[r]));
        }
      }
      for (int r = 0; end == End::unregister && r < ranks.size(); ++r) CHECK_OK(dfcclUnregister(1, ranks[r]));
      // Their devices hear of it a moment later.
      const auto isMoved = [&] {
        for (const Captured& c : captured) c.send.set(valuesOf(&c - captured.data()));
        for (const Captured& c : captured) c.graph[0].launch(c.stream);
        for (const Captured& c : captured) REQUIRE(c.stream.synchronize());
        // Until none has heard too late: what one had sent before, another adds.
        return std::any_of(captured.begin(), captured.end(),
                           [&](const Captured& c) { return c.send.get() != valuesOf(&c - captured.data()); });
      };
      while (end != End::destroy && isMoved()) std::this_thread::yield();
      // Nothing else tells whoever launches.
      for (int r = 0; end != End::destroy && r < ranks.size(); ++r) CHECK(endedRuns(ranks[r]) >= kChain);
    }
    for (const Captured& c : captured) c.graph[0].launch(c.stream);
    for (size_t r = 0; r < captured.size(); ++r) {
      REQUIRE(captured[r].stream.synchronize());
      CHECK(captured[r].send.get() == valuesOf(static_cast<ptrdiff_t>(r)));
    }
  }
}

TEST_CASE("memory that graphs held serves others when they are gone, also where all of it was held") {
  constexpr size_t kCount = 100'000;
  const GpuRanks ranks;
  const Captured c(ranks.device(0), kCount, kCount);
  // As many as there is memory for, in one graph, on one rank. @return how many
  const auto captureAll = [&](int first) {
    int captured = 0;
    const Graph graph(ranks.device(0), c.stream, [&] {
      for (;;) {
        const int id = first + captured;
        dfcclResult_t result = dfcclRegisterAllReduce(kCount, dfcclInt32, dfcclSum, id, dfcclAllRanks(), 0, ranks[0]);
        const bool isRegistered = result == dfcclSuccess;
        if (isRegistered) {
          result = dfcclRunOnStream(c.send.data(), c.recv.data(), id, c.stream, nullptr, nullptr, ranks[0]);
        }
        if (result == dfcclSuccess) {
          CHECK_OK(dfcclWaitOnStream(id, c.stream, ranks[0]));
          ++captured;
          continue;
        }
        CHECK(result == dfcclOutOfMemory);
        if (isRegistered) CHECK_OK(dfcclUnregister(id, ranks[0]));
        break;
      }
    });
    for (int i = 0; i < captured; ++i) CHECK_OK(dfcclUnregister(first + i, ranks[0]));
    return captured;
  };
  const int captured = captureAll(0);
  CHECK(captured > 1);
  CHECK(captureAll(1000) == captured);
}

TEST_CASE("runs that came to no result are counted, also when their graph and its collective are gone") {
  const GpuRanks ranks;
  registerOnAll(ranks, 1, 100);
  {
    const Captured c(ranks.device(0), 100, 100);
    const Graph graph = captureChain(ranks, 0, {1}, c.send, c.stream);
    CHECK_OK(dfcclAbort(1, ranks[0]));
    graph.launch(c.stream);
    REQUIRE(c.stream.synchronize());
    CHECK(endedRuns(ranks[0]) == kChain);
  }
  for (int r = 0; r < ranks.size(); ++r) {
    for (int isOver = 0; isOver == 0;) CHECK_OK(dfcclIsQuarantineOver(1, &isOver, ranks[r]));
  }
  for (int r = 0; r < ranks.size(); ++r) CHECK_OK(dfcclUnregister(1, ranks[r]));
  // The next ones get the memory that the others' counts were in.
  registerOnAll(ranks, 2, 100);
  {
    const Captured c(ranks.device(0), 100, 100);
    const Graph graph = captureChain(ranks, 0, {2}, c.send, c.stream);
    CHECK(endedRuns(ranks[0]) == kChain);
    CHECK(endedRuns(ranks[1]) == 0);
  }
  for (int r = 0; r < ranks.size(); ++r) CHECK_OK(dfcclUnregister(2, ranks[r]));
}

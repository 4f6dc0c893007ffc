// What comes behind what in a graph, and what doesn't.
#include <set>

#include "graphs.hpp"
#include "stream_members.hpp"

using namespace dfccl::gpu::test;

TEST_CASE("a chain of runs, each with a wait behind it, and of what the stream does between them is a line") {
  constexpr size_t kCount = 100;
  const GpuRanks ranks;
  registerOnAll(ranks, 1, kCount);
  registerOnAll(ranks, 2, kCount);
  const Captured c(ranks.device(0), kCount, kCount);
  REQUIRE(cudaStreamBeginCapture(c.stream, cudaStreamCaptureModeGlobal) == cudaSuccess);
  for (const int id : {1, 1, 2, 1, 2, 2}) {
    CHECK_OK(dfcclRunOnStream(c.send.data(), c.recv.data(), id, c.stream, nullptr, nullptr, ranks[0]));
    CHECK_OK(dfcclWaitOnStream(id, c.stream, ranks[0]));
    if (id == 1) REQUIRE(cudaMemsetAsync(c.send.data(), 0, sizeof(int32_t), c.stream) == cudaSuccess);
  }
  cudaGraph_t graph = nullptr;
  REQUIRE(cudaStreamEndCapture(c.stream, &graph) == cudaSuccess);
  size_t count = 0;
  REQUIRE(cudaGraphGetNodes(graph, nullptr, &count) == cudaSuccess);
  CHECK(count == 9);
  std::vector<cudaGraphNode_t> nodes(count);
  REQUIRE(cudaGraphGetNodes(graph, nodes.data(), &count) == cudaSuccess);
  std::set<cudaGraphNode_t> followed;
  for (const cudaGraphNode_t node : nodes) {
    size_t behind = 0;
    REQUIRE(cudaGraphNodeGetDependencies(node, nullptr, nullptr, &behind) == cudaSuccess);
    CHECK(behind <= 1);
    if (behind != 1) continue;
    cudaGraphNode_t before = nullptr;
    cudaGraphEdgeData edge{};
    REQUIRE(cudaGraphNodeGetDependencies(node, &before, &edge, &behind) == cudaSuccess);
    CHECK(followed.insert(before).second);
  }
  CHECK(followed.size() == count - 1);
  REQUIRE(cudaGraphDestroy(graph) == cudaSuccess);
  for (int r = 0; r < ranks.size(); ++r) {
    for (const int id : {1, 2}) CHECK_OK(dfcclUnregister(id, ranks[r]));
  }
}

TEST_CASE("a run is beside what its stream is given until a stream waits for it") {
  constexpr size_t kCount = 100;
  const GpuRanks ranks;
  registerOnAll(ranks, 1, kCount);
  registerOnAll(ranks, 2, kCount);
  std::vector<Captured> captured;
  for (int r = 0; r < ranks.size(); ++r) {
    Captured& c = captured.emplace_back(ranks.device(r), kCount, 2 * kCount);
    const Stream beside(ranks.device(r));
    cudaEvent_t fork = nullptr, join = nullptr;
    REQUIRE(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming) == cudaSuccess);
    REQUIRE(cudaEventCreateWithFlags(&join, cudaEventDisableTiming) == cudaSuccess);
    c.graph.emplace_back(ranks.device(r), c.stream, [&] {
      REQUIRE(cudaEventRecord(fork, c.stream) == cudaSuccess);
      REQUIRE(cudaStreamWaitEvent(beside, fork, 0) == cudaSuccess);
      CHECK_OK(dfcclRunOnStream(c.send.data(), c.recv.data(), 1, beside, nullptr, nullptr, ranks[r]));
      CHECK_OK(dfcclRunOnStream(c.send.data(), c.recv.data() + kCount, 2, c.stream, nullptr, nullptr, ranks[r]));
      // The second one's result into the first one's input, and its result to where that was.
      CHECK_OK(dfcclWaitOnStream(2, beside, ranks[r]));
      CHECK_OK(dfcclWaitOnStream(1, beside, ranks[r]));
      REQUIRE(cudaMemcpyAsync(c.send.data(), c.recv.data() + kCount, kCount * sizeof(int32_t), cudaMemcpyDeviceToDevice,
                              beside) == cudaSuccess);
      CHECK_OK(dfcclRunOnStream(c.send.data(), c.recv.data(), 1, beside, nullptr, nullptr, ranks[r]));
      CHECK_OK(dfcclWaitOnStream(1, beside, ranks[r]));
      REQUIRE(cudaEventRecord(join, beside) == cudaSuccess);
      REQUIRE(cudaStreamWaitEvent(c.stream, join, 0) == cudaSuccess);
    });
    cudaEventDestroy(fork);
    cudaEventDestroy(join);
  }
  for (int round = 0; round < 5; ++round) {
    for (int r = 0; r < ranks.size(); ++r) captured[static_cast<size_t>(r)].send.set(Values(kCount, round + r));
    for (const Captured& c : captured) c.graph[0].launch(c.stream);
    for (const Captured& c : captured) {
      REQUIRE(c.stream.synchronize());
      CHECK(c.recv.get() == Values(2 * kCount, round + ranks.size() - 1));
    }
  }
}

TEST_CASE("runs of one id come one behind the other, though no stream waits between them") {
  constexpr size_t kCount = 100;
  constexpr int kRuns = 4;
  const GpuRanks ranks;
  registerOnAll(ranks, 1, kCount);
  std::vector<Captured> captured;
  for (int r = 0; r < ranks.size(); ++r) {
    Captured& c = captured.emplace_back(ranks.device(r), kRuns * kCount, kRuns * kCount);
    c.graph.emplace_back(ranks.device(r), c.stream, [&] {
      for (size_t i = 0; i < kRuns; ++i) {
        CHECK_OK(dfcclRunOnStream(c.send.data() + i * kCount, c.recv.data() + i * kCount, 1, c.stream, nullptr, nullptr,
                                  ranks[r]));
      }
      CHECK_OK(dfcclWaitOnStream(1, c.stream, ranks[r]));
    });
  }
  for (int round = 0; round < 20; ++round) {
    Values sent, wanted;
    for (int i = 0; i < kRuns; ++i) sent.insert(sent.end(), kCount, 10 * i + round);
    for (const int32_t value : sent) wanted.push_back(value + ranks.size() - 1);
    for (int r = 0; r < ranks.size(); ++r) {
      Values own = sent;
      for (int32_t& value : own) value += r;
      captured[static_cast<size_t>(r)].send.set(own);
    }
    for (const Captured& c : captured) c.graph[0].launch(c.stream);
    for (const Captured& c : captured) {
      REQUIRE(c.stream.synchronize());
      CHECK(c.recv.get() == wanted);
    }
  }
}

TEST_CASE("a graph that waits for its peers needs no call that another thread's cudaFree keeps back") {
  const GpuRanks ranks;
  registerOnAll(ranks, 1, 100);
  std::vector<Captured> captured;
  for (int r = 0; r < ranks.size(); ++r) {
    Captured& c = captured.emplace_back(ranks.device(r), 100, 100);
    c.send.set(Values(100, r));
    c.graph.push_back(captureChain(ranks, r, {1}, c.send, c.stream));
  }
  if (deviceCount() < 2) return skip("needs two GPUs: a launch of the second rank's is kept back, too");
  captured[0].graph[0].launch(captured[0].stream);
  const Freeing freeing(ranks.device(0));
  outwaitStays();
  for (size_t r = 1; r < captured.size(); ++r) captured[r].graph[0].launch(captured[r].stream);
  for (const Captured& c : captured) {
    REQUIRE(c.stream.synchronize());
    CHECK(c.send.get() == Values(100, ranks.size() - 1));
  }
}

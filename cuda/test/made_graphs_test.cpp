// What programs make of the graphs that they have captured: updates, clones, parts of other graphs, conditions.
#include <functional>
#include <string>

#include "graphs.hpp"
#include "groups.hpp"
#include "stream_members.hpp"

using namespace dfccl::gpu::test;

namespace {

constexpr size_t kCount = 3000;

/// One rank's buffers, stream and graphs.
struct Maker {
  Maker(const GpuRanks& ranks, int r, dfcclGroup_t group)
      : rank(r), group(group), first(ranks.device(r), kCount, kCount), second(ranks.device(r), kCount, kCount) {}

  /// A graph of a sum from one pair of buffers, to be destroyed by the caller.
  cudaGraph_t capture(const Captured& c) const {
    cudaGraph_t graph = nullptr;
    REQUIRE(cudaStreamBeginCapture(c.stream, cudaStreamCaptureModeGlobal) == cudaSuccess);
    record(c);
    REQUIRE(cudaStreamEndCapture(c.stream, &graph) == cudaSuccess);
    return graph;
  }
  void record(const Captured& c) const {
    dfcclRequest_t request = nullptr;
    CHECK_OK(dfcclAllReduce(c.send.data(), c.recv.data(), kCount, dfcclInt32, dfcclSum, group, 0, c.stream, &request));
    CHECK_OK(dfcclWaitRunOnStream(request, c.stream));
    CHECK_OK(dfcclFreeRequest(request));
  }
  void instantiate(cudaGraph_t graph) { REQUIRE(cudaGraphInstantiate(&made, graph, 0) == cudaSuccess); }
  void fill(int value) {
    for (const Captured* c : {&first, &second}) {
      c->send.set(Values(kCount, value + rank + (c == &second ? 1000 : 0)));
      c->recv.set(Values(kCount, -1));
    }
  }
  void launch() const { REQUIRE(cudaGraphLaunch(made, first.stream) == cudaSuccess); }

  const int rank;
  const dfcclGroup_t group;
  Captured first, second;
  cudaGraphExec_t made = nullptr;
};

/// Ranks that each make the same.
class Makers {
 public:
  Makers() : groups_(ranks_) {
    for (int r = 0; r < ranks_.size(); ++r) makers_.push_back(std::make_unique<Maker>(ranks_, r, groups_[r]));
  }
  ~Makers() {
    for (const auto& maker : makers_) {
      if (maker->made != nullptr) cudaGraphExecDestroy(maker->made);
    }
  }
  Makers(const Makers&) = delete;
  Makers& operator=(const Makers&) = delete;

  void each(const std::function<void(Maker&)>& make) {
    for (const auto& maker : makers_) {
      cudaSetDevice(ranks_.device(maker->rank));
      make(*maker);
    }
  }
  /// Launches on all ranks, again and again. @param hasFirst whether the first buffers' sum is to come; otherwise
  /// nothing
  void launchAll(bool hasFirst, bool hasSecond) {
    for (int round = 0; round < 5; ++round) {
      each([&](Maker& maker) { maker.fill(10 * round); });
      each([](const Maker& maker) { maker.launch(); });
      each([&](const Maker& maker) {
        REQUIRE(maker.first.stream.synchronize());
        const int sum = ranks_.size() * 10 * round + ranks_.size() * (ranks_.size() - 1) / 2;
        CHECK(maker.first.recv.get() == Values(kCount, hasFirst ? sum : -1));
        CHECK(maker.second.recv.get() == Values(kCount, hasSecond ? sum + 1000 * ranks_.size() : -1));
      });
    }
  }

 private:
  const GpuRanks ranks_;
  const Groups groups_;
  std::vector<std::unique_ptr<Maker>> makers_;
};

}  // namespace

TEST_CASE("an executable graph is updated to other buffers, while its launch is under way too") {
  Makers makers;
  makers.each([](Maker& maker) {
    const cudaGraph_t graph = maker.capture(maker.first);
    maker.instantiate(graph);
    REQUIRE(cudaGraphDestroy(graph) == cudaSuccess);
  });
  makers.launchAll(true, false);
  makers.each([](const Maker& maker) { maker.launch(); });
  makers.each([](Maker& maker) {
    const cudaGraph_t other = maker.capture(maker.second);
    cudaGraphExecUpdateResultInfo info{};
    REQUIRE(cudaGraphExecUpdate(maker.made, other, &info) == cudaSuccess);
    REQUIRE(cudaGraphDestroy(other) == cudaSuccess);
  });
  makers.each([](const Maker& maker) { REQUIRE(maker.first.stream.synchronize()); });
  makers.launchAll(false, true);
}

TEST_CASE("a clone of a graph is launched when the graph is gone") {
  Makers makers;
  makers.each([](Maker& maker) {
    const cudaGraph_t graph = maker.capture(maker.first);
    cudaGraph_t clone = nullptr;
    REQUIRE(cudaGraphClone(&clone, graph) == cudaSuccess);
    REQUIRE(cudaGraphDestroy(graph) == cudaSuccess);
    maker.instantiate(clone);
    REQUIRE(cudaGraphDestroy(clone) == cudaSuccess);
  });
  makers.launchAll(true, false);
}

TEST_CASE("captured graphs are parts of another graph, side by side, one of them twice") {
  Makers makers;
  makers.each([](Maker& maker) {
    cudaGraph_t whole = nullptr;
    REQUIRE(cudaGraphCreate(&whole, 0) == cudaSuccess);
    const cudaGraph_t first = maker.capture(maker.first), second = maker.capture(maker.second);
    for (const cudaGraph_t part : {first, second, first}) {
      cudaGraphNode_t node = nullptr;
      REQUIRE(cudaGraphAddChildGraphNode(&node, whole, nullptr, 0, part) == cudaSuccess);
    }
    for (const cudaGraph_t part : {first, second}) REQUIRE(cudaGraphDestroy(part) == cudaSuccess);
    maker.instantiate(whole);
    REQUIRE(cudaGraphDestroy(whole) == cudaSuccess);
  });
  makers.launchAll(true, true);
}

#if !defined(DFCCL_SIMULATED_GPU) && CUDART_VERSION >= 13000
TEST_CASE("a captured run is in the body of a condition, or is refused there") {
  Makers makers;
  makers.each([](Maker& maker) {
    cudaGraph_t whole = nullptr;
    REQUIRE(cudaGraphCreate(&whole, 0) == cudaSuccess);
    cudaGraphConditionalHandle handle = 0;
    REQUIRE(cudaGraphConditionalHandleCreate(&handle, whole, 1, cudaGraphCondAssignDefault) == cudaSuccess);
    cudaGraphNodeParams parameters{};
    parameters.type = cudaGraphNodeTypeConditional;
    parameters.conditional.handle = handle;
    parameters.conditional.type = cudaGraphCondTypeIf;
    parameters.conditional.size = 1;
    cudaGraphNode_t node = nullptr;
    REQUIRE(cudaGraphAddNode(&node, whole, nullptr, nullptr, 0, &parameters) == cudaSuccess);
    const cudaGraph_t body = parameters.conditional.phGraph_out[0];
    REQUIRE(cudaStreamBeginCaptureToGraph(maker.first.stream, body, nullptr, nullptr, 0, cudaStreamCaptureModeGlobal) ==
            cudaSuccess);
    maker.record(maker.first);
    cudaGraph_t captured = nullptr;
    REQUIRE(cudaStreamEndCapture(maker.first.stream, &captured) == cudaSuccess);
    maker.instantiate(whole);
    REQUIRE(cudaGraphDestroy(whole) == cudaSuccess);
  });
  makers.launchAll(true, false);
}
#endif

// Graphs before which their streams had no kernel and no copy, side by side: see README.md.
#include "simulated/blocked_call.hpp"
#include "simulated/graph.hpp"
#include "simulated/unkindness.hpp"

using namespace dfccl::gpu::simulated;
using namespace dfccl::gpu::simulated::test;

namespace {

void launchGraph(cudaStream_t stream, std::function<void()> work) {
  Graph graph;
  graph.add({}, std::move(work));
  cudaGraphExec_t made = nullptr;
  REQUIRE(cudaGraphInstantiate(&made, reinterpret_cast<cudaGraph_t>(&graph), 0) == cudaSuccess);
  REQUIRE(cudaGraphLaunch(made, stream) == cudaSuccess);
  REQUIRE(cudaGraphExecDestroy(made) == cudaSuccess);
}

/// The first stream's graph waits until the test lets it go on.
/// @return whether the second one's is done meanwhile.
bool isSecondFree(cudaStream_t first, cudaStream_t second) {
  dfccl::gpu::simulated::test::Word let;
  std::atomic<bool> hasBegun{false}, isDone{false};
  launchGraph(first, [&, spin = let.spin()] {
    hasBegun = true;
    spin();
  });
  REQUIRE(comesToHold([&] { return hasBegun.load(); }));
  launchGraph(second, [&] { isDone = true; });
  const FirstGraphs& graphs = Device::at(0).firstGraphs();
  const bool isFree = comesToHold([&] { return isDone.load() || graphs.isAwaited(); }) && isDone;
  let.open();
  CHECK(cudaStreamSynchronize(second) == cudaSuccess);
  CHECK(isDone);
  return isFree;
}

cudaStream_t newUsedStream() {
  static char memory;
  const cudaStream_t stream = newStream();
  REQUIRE(cudaMemsetAsync(&memory, 0, 1, stream) == cudaSuccess);
  return stream;
}

}  // namespace

TEST_CASE("of two graphs before which their streams had no work of the device's one waits for the other") {
  CHECK_FALSE(isSecondFree(newStream(), newStream()));
  const cudaStream_t calls = newStream();
  REQUIRE(cudaLaunchHostFunc(
              calls, [](void*) {}, nullptr) == cudaSuccess);
  CHECK_FALSE(isSecondFree(newStream(), calls));
}

TEST_CASE("a graph in a stream that was given a copy before waits for none, and keeps none back") {
  CHECK(isSecondFree(newStream(), newUsedStream()));
  CHECK(isSecondFree(newUsedStream(), newStream()));
}

TEST_CASE("control: with the switch off the first graphs of two streams run side by side") {
  const Switched free(unkindness().firstGraphs, 0);
  CHECK(isSecondFree(newStream(), newStream()));
}

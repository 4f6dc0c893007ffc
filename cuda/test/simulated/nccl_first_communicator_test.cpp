// A process's first communicator on a device.
#include <thread>

#include "child.hpp"
#include "nccl_api/test/ranks.hpp"

using namespace dfccl::nccl::test;
using dfccl::gpu::test::Child;
using dfccl::gpu::test::runSelf;

namespace {

/// What is allocated for it must not end another thread's capture, nor fail because of it.
void makeBesideCapture() {
  cudaSetDevice(0);
  const RankStream stream;
  REQUIRE(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) == cudaSuccess);
  const ncclUniqueId id = newId();
  std::thread([&] {
    cudaSetDevice(0);
    const Comm comm(id, 1, 0);
  }).join();
  cudaGraph_t graph = nullptr;
  CHECK(cudaStreamEndCapture(stream, &graph) == cudaSuccess);
  CHECK(cudaGraphDestroy(graph) == cudaSuccess);
}

const Child makingBesideCapture("a communicator beside a capture", makeBesideCapture);

}  // namespace

TEST_CASE("the first communicator on a device is made beside another thread's capture") {
  CHECK(runSelf({}, {{"DFCCL_TEST_CHILD", "a communicator beside a capture"}}, std::chrono::seconds(60)).code == 0);
}

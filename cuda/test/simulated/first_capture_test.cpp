// A collective that a graph captures takes memory of the host's, and now and then there is none left of what was taken
// before: then CUDA may wait until a device is idle.
#include <doctest/doctest.h>

#include "simulated/blocked_call.hpp"
#include "support.hpp"

using namespace dfccl::gpu::test;
using dfccl::gpu::simulated::loadModule;
using dfccl::gpu::simulated::test::BlockedCall;
using dfccl::gpu::simulated::test::newStream;

// The peer may be one for whose run a stream of this device waits, so that it never is idle.
TEST_CASE("a capture that waits for the driver keeps no peer from registering") {
  constexpr size_t kCount = 16;
  constexpr int kAtOnce = 256;  // collectives for which there is memory
  constexpr int kBusyModule = 4711, kNewModule = 4712;
  const GpuRanks ranks(2);
  REQUIRE(ranks.device(0) != ranks.device(1));
  CHECK_OK(dfcclRegisterAllReduce(kCount, dfcclInt32, dfcclSum, 0, dfcclAllRanks(), 0, ranks[0]));
  const DeviceArray<int32_t> buffer(ranks.device(0), kCount);
  cudaSetDevice(ranks.device(0));
  const cudaStream_t busy = newStream(), capturing = newStream();
  REQUIRE(loadModule(kBusyModule) == cudaSuccess);
  dfccl::gpu::simulated::test::Word word;
  REQUIRE(dfccl::gpu::simulated::launchUserKernel(busy, kBusyModule, word.spin()) == cudaSuccess);
  REQUIRE(cudaStreamBeginCapture(capturing, cudaStreamCaptureModeRelaxed) == cudaSuccess);
  for (int id = 2; id < 2 + kAtOnce; ++id) {
    CHECK_OK(dfcclRegisterAllReduce(kCount, dfcclInt32, dfcclSum, id, dfcclAllRanks(), 0, ranks[0]));
    CHECK_OK(dfcclRunOnStream(buffer.data(), buffer.data(), id, capturing, nullptr, nullptr, ranks[0]));
    CHECK_OK(dfcclWaitOnStream(id, capturing, ranks[0]));
  }
  {
    const BlockedCall load([] { loadModule(kNewModule); });
    CHECK(load.awaitsIdle());
    const BlockedCall capture(
        [&] { CHECK_OK(dfcclRunOnStream(buffer.data(), buffer.data(), 0, capturing, nullptr, nullptr, ranks[0])); });
    CHECK(capture.awaitsLock());
    const BlockedCall registering(
        [&] { CHECK_OK(dfcclRegisterAllReduce(kCount, dfcclInt32, dfcclSum, 1, dfcclAllRanks(), 0, ranks[1])); });
    CHECK(registering.returns());
    word.open();
  }
  CHECK_OK(dfcclWaitOnStream(0, capturing, ranks[0]));
  cudaGraph_t graph = nullptr;
  CHECK(cudaStreamEndCapture(capturing, &graph) == cudaSuccess);
  CHECK(cudaGraphDestroy(graph) == cudaSuccess);
}

// Threads of a rank whose runs are matched by their signature: what one waits for in the driver keeps no other one from
// submitting (decision 45).
#include <doctest/doctest.h>

#include <optional>

#include "simulated/blocked_call.hpp"
#include "support.hpp"

using namespace dfccl::gpu::test;
using dfccl::gpu::simulated::launchUserKernel;
using dfccl::gpu::simulated::loadModule;
using dfccl::gpu::simulated::test::BlockedCall;
using dfccl::gpu::simulated::test::newStream;

namespace {

constexpr size_t kSummed = 16;

/// Two ranks on a device each, which sum by the one-call API: each tag is another collective.
class Summing {
 public:
  explicit Summing(uint32_t tags) : buffers_{{ranks_.device(0), kSummed * tags}, {ranks_.device(1), kSummed * tags}} {
    REQUIRE(ranks_.device(0) != ranks_.device(1));
    for (const int r : {0, 1}) CHECK_OK(dfcclGroupCreate(nullptr, 0, 0, &groups_[r], ranks_[r]));
    // So that nothing is new to a rank later.
    for (uint32_t tag = 0; tag < tags; ++tag) waitBoth(submit(0, tag), submit(1, tag));
  }
  ~Summing() {
    for (const dfcclGroup_t group : groups_) CHECK_OK(dfcclGroupDestroy(group));
  }

  dfcclRequest_t submit(int rank, uint32_t tag, cudaStream_t stream = nullptr) {
    int32_t* const at = buffers_[rank].data() + kSummed * tag;
    dfcclRequest_t request = nullptr;
    CHECK_OK(dfcclAllReduce(at, at, kSummed, dfcclInt32, dfcclSum, groups_[rank], tag, stream, &request));
    return request;
  }
  static void waitBoth(dfcclRequest_t first, dfcclRequest_t second) {
    CHECK_OK(dfcclWaitRun(first, 0));
    CHECK_OK(dfcclWaitRun(second, 0));
  }
  int device(int rank) { return ranks_.device(rank); }
  dfcclGroup_t group(int rank) { return groups_[rank]; }

 private:
  const GpuRanks ranks_{2};
  DeviceArray<int32_t> buffers_[2];
  dfcclGroup_t groups_[2];
};

/// Device 0 is busy, and a thread that loads a module has the driver's lock until it isn't.
class KeptDriver {
 public:
  explicit KeptDriver(int device) {
    load_.emplace([device] {
      static int lateModule = 20'000;
      cudaSetDevice(device);
      loadModule(++lateModule);
    });
    CHECK(load_->awaitsIdle());
  }
  bool isLetGo() { return load_->returns(); }

 private:
  std::optional<BlockedCall> load_;
};

/// Whoever calls the driver now; the library's own threads may do so too.
bool isSomebodyKept() {
  return comesToHold([] { return dfccl::gpu::simulated::threadsAwaitingLock(0) != 0; });
}

/// A kernel that is none of the library's.
class BusyDevice {
 public:
  explicit BusyDevice(int device) {
    constexpr int kBusyModule = 19'999;
    cudaSetDevice(device);
    REQUIRE(loadModule(kBusyModule) == cudaSuccess);
    REQUIRE(launchUserKernel(newStream(), kBusyModule, word_.spin()) == cudaSuccess);
  }
  void end() { word_.open(); }

 private:
  dfccl::gpu::simulated::test::Word word_;
};

}  // namespace

// A training that hung so: the device waits for what rank 1 submits once it has the second thread's run.
TEST_CASE("a run behind a stream that waits for the driver keeps no other thread's run of the rank from beginning") {
  Summing sums(3);
  cudaSetDevice(sums.device(0));
  const cudaStream_t waiting = newStream(), blocking = newStream(cudaStreamDefault);
  const dfcclRequest_t awaited = sums.submit(0, 2);
  CHECK_OK(dfcclWaitRunOnStream(awaited, waiting));
  dfcclRequest_t behindStream = nullptr;
  {
    KeptDriver driver(sums.device(0));
    const BlockedCall first([&] { behindStream = sums.submit(0, 0, blocking); });
    CHECK(isSomebodyKept());
    const BlockedCall second([&] { Summing::waitBoth(sums.submit(0, 1), sums.submit(1, 1)); });
    CHECK(second.returns());
    Summing::waitBoth(awaited, sums.submit(1, 2));
    CHECK(driver.isLetGo());
    CHECK(first.returns());
  }
  Summing::waitBoth(behindStream, sums.submit(1, 0));
}

TEST_CASE("a run that is captured and waits for the driver keeps no other thread's run of the rank from beginning") {
  Summing sums(2);
  cudaSetDevice(sums.device(0));
  const cudaStream_t capturing = newStream();
  REQUIRE(cudaStreamBeginCapture(capturing, cudaStreamCaptureModeRelaxed) == cudaSuccess);
  dfcclRequest_t captured = nullptr, other = nullptr;
  {
    BusyDevice busy(sums.device(0));
    KeptDriver driver(sums.device(0));
    const BlockedCall first([&] { captured = sums.submit(0, 0, capturing); });
    CHECK(isSomebodyKept());
    const BlockedCall second([&] { other = sums.submit(0, 1); });
    CHECK(second.returns());
    busy.end();
    CHECK(driver.isLetGo());
    CHECK((first.returns() && second.returns()));
  }
  Summing::waitBoth(other, sums.submit(1, 1));
  CHECK_OK(dfcclWaitRunOnStream(captured, capturing));
  CHECK_OK(dfcclFreeRequest(captured));
  cudaGraph_t graph = nullptr;
  CHECK(cudaStreamEndCapture(capturing, &graph) == cudaSuccess);
  CHECK(cudaGraphDestroy(graph) == cudaSuccess);
}

TEST_CASE("a capture that waits for the driver keeps nobody from looking at the rank, or giving up what it has") {
  const GpuRanks ranks(2);
  for (const int r : {0, 1})
    for (const int id : {0, 1})
      CHECK_OK(dfcclRegisterAllReduce(kSummed, dfcclInt32, dfcclSum, id, dfcclAllRanks(), 0, ranks[r]));
  const DeviceArray<int32_t> buffer(ranks.device(0), kSummed);
  cudaSetDevice(ranks.device(0));
  const cudaStream_t capturing = newStream();
  REQUIRE(cudaStreamBeginCapture(capturing, cudaStreamCaptureModeRelaxed) == cudaSuccess);
  {
    BusyDevice busy(ranks.device(0));
    KeptDriver driver(ranks.device(0));
    const BlockedCall capture(
        [&] { CHECK_OK(dfcclRunOnStream(buffer.data(), buffer.data(), 0, capturing, nullptr, nullptr, ranks[0])); });
    CHECK(isSomebodyKept());
    const BlockedCall looking([&] {
      char text[1000];
      CHECK_OK(dfcclDescribe(text, sizeof text, ranks[0]));
      CHECK_OK(dfcclAbort(1, ranks[0]));
    });
    CHECK(looking.returns());
    busy.end();
    CHECK(driver.isLetGo());
    CHECK((capture.returns() && looking.returns()));
  }
  // The daemons let go of it once they can be launched again.
  for (int isOver = 0; isOver == 0;) REQUIRE(dfcclIsQuarantineOver(1, &isOver, ranks[0]) == dfcclSuccess);
  CHECK_OK(dfcclWaitOnStream(0, capturing, ranks[0]));
  cudaGraph_t graph = nullptr;
  CHECK(cudaStreamEndCapture(capturing, &graph) == cudaSuccess);
  CHECK(cudaGraphDestroy(graph) == cudaSuccess);
}

// The half that it came to meet is the group's, too.
TEST_CASE("a group may be given up while a message to oneself waits for the driver") {
  Summing sums(1);
  const DeviceArray<int32_t> sent(sums.device(0), kSummed), received(sums.device(0), kSummed);
  cudaSetDevice(sums.device(0));
  const cudaStream_t blocking = newStream(cudaStreamDefault);
  dfcclRequest_t send = nullptr, receive = nullptr;
  CHECK_OK(dfcclSend(sent.data(), kSummed, dfcclInt32, 0, sums.group(0), 0, blocking, &send));
  {
    BusyDevice busy(sums.device(0));
    KeptDriver driver(sums.device(0));
    dfcclResult_t came = dfcclSuccess;
    const BlockedCall receiving([&] {
      came = dfcclRecv(received.data(), kSummed, dfcclInt32, 0, sums.group(0), 0, blocking, &receive);
      if (came == dfcclSuccess) came = dfcclWaitRun(receive, 0);
    });
    CHECK(isSomebodyKept());
    const BlockedCall giving([&] { CHECK_OK(dfcclGroupAbort(sums.group(0))); });
    CHECK(giving.returns());
    busy.end();
    CHECK(driver.isLetGo());
    CHECK(receiving.returns());
    CHECK(came == dfcclAborted);
    const BlockedCall waiting([&] { CHECK(dfcclWaitRun(send, 0) == dfcclAborted); });
    CHECK(waiting.returns());
  }
}

// Requests of runs that graphs carry out, which outlive their ranks, and of messages to oneself, which have two halves.
#include <optional>
#include <string>

#include "graphs.hpp"

using namespace dfccl::gpu::test;

namespace {

dfcclGroup_t groupOfAll(const GpuRanks& ranks, int r) {
  dfcclGroup_t group = nullptr;
  CHECK_OK(dfcclGroupCreate(nullptr, 0, 0, &group, ranks[r]));
  return group;
}

}  // namespace

TEST_CASE("a request of a captured run whose rank is gone says so to a stream that is to wait for it") {
  dfcclRequest_t request = nullptr;
  std::optional<GpuRanks> ranks(std::in_place);
  const Captured c(ranks->device(0), 100, 100);
  dfcclGroup_t group = groupOfAll(*ranks, 0);
  const Graph graph(ranks->device(0), c.stream, [&] {
    CHECK_OK(dfcclAllReduce(c.send.data(), c.recv.data(), 100, dfcclInt32, dfcclSum, group, 0, c.stream, &request));
    CHECK_OK(dfcclWaitRunOnStream(request, c.stream));
  });
  ranks.reset();
  const std::optional<GpuRanks> others(std::in_place);  // where the rank was in memory
  int isOver = 0, isCaptured = 0;
  CHECK_OK(dfcclTestRun(request, &isOver));
  CHECK(isOver == 1);
  CHECK_OK(dfcclIsRunCaptured(request, &isCaptured));
  CHECK(isCaptured == 1);
  CHECK(dfcclWaitRunOnStream(request, c.stream) == dfcclClosed);
  CHECK(std::string(dfcclGetLastError()).find("has been destroyed") != std::string::npos);
  CHECK_OK(dfcclFreeRequest(request));
}

TEST_CASE("who is told that a message to itself was captured may submit in that call") {
  const GpuRanks ranks;
  const Captured c(ranks.device(0), 100, 100);
  struct Told {
    dfcclGroup_t group;
    dfcclResult_t submitted = dfcclTimeout;
    dfcclRequest_t request = nullptr;
    const DeviceArray<int32_t>* buffer;
  } told{groupOfAll(ranks, 0), dfcclTimeout, nullptr, &c.send};
  dfcclRequest_t sent = nullptr;
  const Graph graph(ranks.device(0), c.stream, [&] {
    CHECK_OK(dfcclSend(c.send.data(), 100, dfcclInt32, 0, told.group, 0, c.stream, &sent));
    const auto submit = [](void* to, dfcclResult_t) {
      auto& t = *static_cast<Told*>(to);
      t.submitted = dfcclSend(t.buffer->data(), 1, dfcclInt32, 0, t.group, 7, nullptr, &t.request);
    };
    CHECK_OK(dfcclNotifyRun(sent, submit, &told));
    CHECK_OK(dfcclRecv(c.recv.data(), 100, dfcclInt32, 0, told.group, 0, c.stream, nullptr));
  });
  CHECK(told.submitted == dfcclSuccess);
  CHECK_OK(dfcclRecv(c.recv.data(), 1, dfcclInt32, 0, told.group, 7, nullptr, nullptr));
  CHECK_OK(dfcclWaitRun(told.request, 60'000'000));
  CHECK_OK(dfcclFreeRequest(sent));
}

TEST_CASE("a stream waits for a message to itself by the request of either half, or of both") {
  const GpuRanks ranks;
  const Captured c(ranks.device(0), 100, 100);
  c.send.set(Values(100, 7));
  c.recv.set(Values(100, 0));
  const dfcclGroup_t group = groupOfAll(ranks, 0);
  dfcclRequest_t sent = nullptr, received = nullptr, both = nullptr;
  CHECK_OK(dfcclBatchBegin());
  CHECK_OK(dfcclSend(c.send.data(), 100, dfcclInt32, 0, group, 0, c.stream, &sent));
  CHECK_OK(dfcclRecv(c.recv.data(), 100, dfcclInt32, 0, group, 0, c.stream, &received));
  CHECK_OK(dfcclBatchEnd(&both));
  for (const dfcclRequest_t request : {both, sent, received}) CHECK_OK(dfcclWaitRunOnStream(request, c.stream));
  REQUIRE(c.stream.synchronize());
  CHECK(c.recv.get() == Values(100, 7));
  for (const dfcclRequest_t request : {both, sent, received}) CHECK_OK(dfcclWaitRun(request, 0));
}

TEST_CASE("both halves of a message to itself are behind one stream, or one of them behind none") {
  const GpuRanks ranks;
  const Captured c(ranks.device(0), 100, 100);
  const Stream other(ranks.device(0));
  c.send.set(Values(100, 7));
  const dfcclGroup_t group = groupOfAll(ranks, 0);
  for (const bool isSendFirst : {true, false}) {
    c.recv.set(Values(100, 0));
    dfcclRequest_t sent = nullptr, received = nullptr;
    const auto send = [&](cudaStream_t stream) {
      return dfcclSend(c.send.data(), 100, dfcclInt32, 0, group, 0, stream, &sent);
    };
    const auto receive = [&](cudaStream_t stream) {
      return dfcclRecv(c.recv.data(), 100, dfcclInt32, 0, group, 0, stream, &received);
    };
    CHECK_OK(isSendFirst ? send(c.stream) : receive(c.stream));
    CHECK((isSendFirst ? receive(other) : send(other)) == dfcclUnavailable);
    CHECK(std::string(dfcclGetLastError()).find("behind another") != std::string::npos);
    CHECK_OK(isSendFirst ? receive(nullptr) : send(nullptr));
    for (const dfcclRequest_t request : {sent, received}) CHECK_OK(dfcclWaitRun(request, 60'000'000));
    CHECK(c.recv.get() == Values(100, 7));
  }
}

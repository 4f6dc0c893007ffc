// A rank that is lost in a process which has others: nobody waits for it.
#include <doctest/doctest.h>

#include <array>
#include <atomic>

#include "host/driver/check.hpp"
#include "simulated/blocked_call.hpp"
#include "simulated/unkindness.hpp"
#include "stream_members.hpp"
#include "streams.hpp"

using namespace dfccl::gpu::test;
using dfccl::gpu::OnDevice;
using dfccl::gpu::simulated::unkindness;

namespace {

constexpr size_t kCount = 64;
constexpr int kLost = 0, kOther = 1, kAlone = 2;  // ids
constexpr int kIds = 3;

bool comesToAnEnd(cudaStream_t stream) {
  return comesToHold([=] { return cudaStreamQuery(stream) == cudaSuccess; });
}

}  // namespace

TEST_CASE("streams that wait for a rank whose device has failed go on, its own and other ranks'") {
  const OnDevice restored(0);
  const GpuRanks ranks(2);
  std::vector<DeviceArray<int32_t>> buffers;
  std::vector<dfccl::gpu::test::Stream> streams;
  for (int r = 0; r < ranks.size(); ++r) {
    for (const int id : {kLost, kOther, kAlone}) {
      // The last one is of rank 1 alone: rank 0 is lost before it registers it.
      if (r == 1 || id != kAlone) {
        CHECK_OK(dfcclRegisterAllReduce(kCount, dfcclInt32, dfcclSum, id, dfcclAllRanks(), 0, ranks[r]));
      }
      buffers.emplace_back(ranks.device(r), kCount);
      streams.emplace_back(ranks.device(r));
    }
  }
  std::array<std::atomic<int>, 2> aborted{};  // [rank]
  const auto count = [](void* counter, dfcclResult_t result) {
    if (result == dfcclAborted) ++*static_cast<std::atomic<int>*>(counter);
  };
  const auto run = [&](int r, int id) {
    const auto& buffer = buffers[static_cast<size_t>(kIds * r + id)];
    return dfcclRunOnStream(buffer.data(), buffer.data(), id, streams[static_cast<size_t>(kIds * r + id)], count,
                            &aborted[static_cast<size_t>(r)], ranks[r]);
  };
  // Each waits for the other rank's run: rank 1 for what rank 0 fails to submit, and rank 0 for what rank 1 doesn't.
  CHECK_OK(run(1, kLost));
  CHECK_OK(dfcclWaitOnStream(kLost, streams[kIds + kLost], ranks[1]));
  CHECK_OK(run(1, kAlone));
  CHECK_OK(dfcclWaitOnStream(kAlone, streams[kIds + kAlone], ranks[1]));
  CHECK_OK(run(0, kOther));
  CHECK_OK(dfcclWaitOnStream(kOther, streams[kOther], ranks[0]));
  unkindness().refusedStores.set(1);
  CHECK(run(0, kLost) == dfcclSystemError);
  CHECK(comesToAnEnd(streams[kOther]));
  CHECK(comesToAnEnd(streams[kIds + kLost]));
  CHECK(comesToAnEnd(streams[kIds + kAlone]));
  CHECK_OK(dfcclWait(ranks[1]));
  CHECK(aborted[1].load() == 2);
  CHECK(dfcclRegisterAllReduce(kCount, dfcclInt32, dfcclSum, kIds, dfcclAllRanks(), 0, ranks[1]) == dfcclSystemError);
}

TEST_CASE("a run that loses its rank while it is submitted ends once, for whoever waits for it") {
  const OnDevice restored(0);
  const GpuRanks ranks(2);
  const DeviceArray<int32_t> buffer(ranks.device(0), kCount);
  const dfccl::gpu::test::Stream stream(ranks.device(0));
  dfcclGroup_t group = nullptr;
  CHECK_OK(dfcclGroupCreate(nullptr, 0, 0, &group, ranks[0]));
  unkindness().refusedStores.set(1);
  dfcclRequest_t request = nullptr;
  CHECK_OK(dfcclAllReduce(buffer.data(), buffer.data(), kCount, dfcclInt32, dfcclSum, group, 0, stream, &request));
  CHECK(dfcclWaitRun(request, 0) != dfcclSuccess);
}

// Whoever comes next may have the request's place: another world's run ended in its stead.
TEST_CASE("a run in a stream that can't be launched ends once, as its rank's") {
  const OnDevice restored(0);
  const GpuRanks others(2);
  dfcclRequest_t request = nullptr;
  {
    const GpuRanks ranks(2);
    const DeviceArray<int32_t> buffer(ranks.device(0), kCount);
    const dfccl::gpu::test::Stream stream(ranks.device(0));
    dfcclGroup_t group = nullptr;
    CHECK_OK(dfcclGroupCreate(nullptr, 0, 0, &group, ranks[0]));
    CHECK_OK(dfcclGroupRunInStreams(group, 1 << 20, 0, dfcclForAll));
    unkindness().refusedLaunches.set(1);
    CHECK_OK(dfcclAllReduce(buffer.data(), buffer.data(), kCount, dfcclInt32, dfcclSum, group, 0, stream, &request));
    dfcclGroup_t another = nullptr;
    CHECK_OK(dfcclGroupCreate(nullptr, 0, 0, &another, others[0]));
    const DeviceArray<int32_t> healthy(others.device(0), kCount);
    dfcclRequest_t pending = nullptr;
    CHECK_OK(
        dfcclAllReduce(healthy.data(), healthy.data(), kCount, dfcclInt32, dfcclSum, another, 0, nullptr, &pending));
    CHECK(dfcclWaitRun(request, 0) == dfcclAborted);
    CHECK(dfcclWaitRun(pending, 2000) == dfcclTimeout);
    CHECK(dfcclAllReduce(buffer.data(), buffer.data(), kCount, dfcclInt32, dfcclSum, group, 0, stream, nullptr) ==
          dfcclSystemError);
    CHECK(stream.synchronize());
    CHECK_OK(dfcclGroupAbort(another));
    CHECK(dfcclWaitRun(pending, 0) == dfcclAborted);
  }
}

// A thread that is kept from running just when it has given a stream a wait, which synchronizes with the default one:
// for longer than daemons stay for a call that may be waiting for the driver.
#include <chrono>
#include <functional>
#include <thread>
#include <vector>

#include "child.hpp"
#include "simulated/kept_giver.hpp"
#include "simulated/modules.hpp"
#include "stream_members.hpp"

using namespace dfccl::gpu::test;
using dfccl::gpu::simulated::awaitDaemonsOut;
using dfccl::gpu::simulated::awaitIdleWaiter;
using dfccl::gpu::simulated::keepNextGiver;

namespace {

constexpr int kLateId = 1, kFewQueues = 4;

/// Two ranks, of which one is late with a wait.
class LateGiver {
 public:
  LateGiver() : ranks_(2), members_(membersOf(ranks_, kLateId, 100)) {
    runAll(ranks_, members_, kLateId);
    CHECK_OK(ranks_.waitAll());
    REQUIRE(cudaSetDevice(device()) == cudaSuccess);
  }

  /// Rank 0's.
  int device() const { return ranks_.device(0); }
  dfccl::gpu::test::Stream blockingStream() const { return dfccl::gpu::test::Stream(device(), 0, cudaStreamDefault); }

  /// Rank 0 lets the stream wait for a run, and is kept from going on when the stream has the wait, until `until`
  /// returns and no daemon is inside. Rank 1 comes later.
  void waitAndBeKept(cudaStream_t stream, const std::function<void()>& until) const {
    const Member &mine = members_[0], &peers = members_[1];
    mine.fill();
    CHECK(mine.stream.synchronize());
    CHECK_OK(dfcclRunOnStream(mine.send.data(), mine.recv.data(), kLateId, stream, nullptr, nullptr, ranks_[0]));
    bool wasKept = false;
    keepNextGiver(stream, [&] {
      until();
      awaitDaemonsOut(device());
      wasKept = true;
    });
    CHECK_OK(dfcclWaitOnStream(kLateId, stream, ranks_[0]));
    CHECK(wasKept);
    peers.fill();
    CHECK(peers.stream.synchronize());
    CHECK_OK(dfcclRun(peers.send.data(), peers.recv.data(), kLateId, nullptr, nullptr, ranks_[1]));
    REQUIRE(cudaSetDevice(device()) == cudaSuccess);
    REQUIRE(cudaMemcpyAsync(mine.output.data(), mine.recv.data(), mine.output.bytes(), cudaMemcpyDeviceToHost,
                            stream) == cudaSuccess);
    REQUIRE(cudaStreamSynchronize(stream) == cudaSuccess);
    CHECK(mine.output.isAll(sumOfInputs(ranks_)));
    CHECK_OK(ranks_.waitAll());
  }

 private:
  const GpuRanks ranks_;
  const std::vector<Member> members_;
};

void shareQueues() {
  const LateGiver late;
  // One of as many streams as there are queues is in the daemon's.
  std::vector<dfccl::gpu::test::Stream> streams;
  for (int i = 0; i < kFewQueues; ++i) streams.push_back(late.blockingStream());
  for (const auto& stream : streams) late.waitAndBeKept(stream, [] {});
}

void freeMeanwhile() {
  const LateGiver late;
  void* memory = nullptr;
  REQUIRE(cudaMalloc(&memory, 100) == cudaSuccess);
  const dfccl::gpu::test::Stream stream = late.blockingStream();
  std::thread other;
  late.waitAndBeKept(stream, [&] {
    other = std::thread([&] {
      cudaSetDevice(late.device());
      CHECK(cudaFree(memory) == cudaSuccess);
    });
    awaitIdleWaiter(late.device());
  });
  other.join();
}

const Child sharing("is kept with a wait in the daemon's queue", shareQueues);
const Child freeing("is kept with a wait while another thread frees", freeMeanwhile);

void checkEnds(const char* name) {
  const ChildEnd end =
      runSelf({}, {{"DFCCL_TEST_CHILD", name}, {"CUDA_DEVICE_MAX_CONNECTIONS", "4"}}, std::chrono::seconds(60));
  CHECK(end.hasEnded);
  CHECK(end.code == 0);
}

}  // namespace

// It hung: the daemon left, and the next one was launched behind the wait. In CI so did seed 3 of the random programs
// of two processes, once, on a busy machine.
TEST_CASE("a wait is taken back that was given too late for the daemon, and given again") {
  checkEnds("is kept with a wait in the daemon's queue");
}

// It hung: nobody could launch a daemon beside cudaFree(), which waited for the stream.
TEST_CASE("so it is while another thread has the driver until the device is idle") {
  checkEnds("is kept with a wait while another thread frees");
}

// A thread that is kept from running just when it has given a stream a wait, which synchronizes with the default one:
// for longer than daemons stay for a call that may be waiting for the driver.
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "child.hpp"
#include "simulated/modules.hpp"
#include "stream_members.hpp"

using namespace dfccl::gpu::test;

namespace {

constexpr int kLateId = 1, kFewQueues = 4;
constexpr std::chrono::milliseconds kPause(100);

class BlockingStream {
 public:
  BlockingStream() { REQUIRE(cudaStreamCreateWithFlags(&stream_, cudaStreamDefault) == cudaSuccess); }
  ~BlockingStream() { cudaStreamDestroy(stream_); }
  BlockingStream(const BlockingStream&) = delete;
  BlockingStream& operator=(const BlockingStream&) = delete;

  operator cudaStream_t() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

/// Rank 0 lets the stream wait for a run, and is kept from going on when the stream has the wait. Rank 1 comes later.
/// @param meanwhile on a thread of its own, begins before rank 0 is kept.
template <class Meanwhile>
void waitAndBeKept(const GpuRanks& ranks, const std::vector<Member>& members, cudaStream_t stream,
                   const Meanwhile& meanwhile) {
  const Member &mine = members[0], &peers = members[1];
  mine.fill();
  CHECK(mine.stream.synchronize());
  REQUIRE(cudaSetDevice(ranks.device(0)) == cudaSuccess);
  CHECK_OK(dfcclRunOnStream(mine.send.data(), mine.recv.data(), kLateId, stream, nullptr, nullptr, ranks[0]));
  dfccl::gpu::simulated::pauseNextGiver(stream, kPause);
  std::thread other(meanwhile);
  CHECK_OK(dfcclWaitOnStream(kLateId, stream, ranks[0]));
  peers.fill();
  CHECK(peers.stream.synchronize());
  CHECK_OK(dfcclRun(peers.send.data(), peers.recv.data(), kLateId, nullptr, nullptr, ranks[1]));
  REQUIRE(cudaSetDevice(ranks.device(0)) == cudaSuccess);
  REQUIRE(cudaMemcpyAsync(mine.output.data(), mine.recv.data(), mine.output.bytes(), cudaMemcpyDeviceToHost, stream) ==
          cudaSuccess);
  REQUIRE(cudaStreamSynchronize(stream) == cudaSuccess);
  CHECK(mine.output.isAll(sumOfInputs(ranks)));
  other.join();
  CHECK_OK(ranks.waitAll());
}

void shareQueues() {
  const GpuRanks ranks(2);
  const std::vector<Member> members = membersOf(ranks, kLateId, 100);
  runAll(ranks, members, kLateId);
  CHECK_OK(ranks.waitAll());
  REQUIRE(cudaSetDevice(ranks.device(0)) == cudaSuccess);
  // One of as many streams as there are queues is in the daemon's.
  std::vector<BlockingStream> streams(kFewQueues);
  for (const BlockingStream& stream : streams) waitAndBeKept(ranks, members, stream, [] {});
}

void freeMeanwhile() {
  const GpuRanks ranks(2);
  const std::vector<Member> members = membersOf(ranks, kLateId, 100);
  runAll(ranks, members, kLateId);
  CHECK_OK(ranks.waitAll());
  REQUIRE(cudaSetDevice(ranks.device(0)) == cudaSuccess);
  void* memory = nullptr;
  REQUIRE(cudaMalloc(&memory, 100) == cudaSuccess);
  const BlockingStream stream;
  waitAndBeKept(ranks, members, stream, [&] {
    // The stream has the wait.
    while (!dfccl::gpu::simulated::isGiverPaused(stream)) std::this_thread::yield();
    cudaSetDevice(ranks.device(0));
    CHECK(cudaFree(memory) == cudaSuccess);
  });
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

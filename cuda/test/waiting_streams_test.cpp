// Streams that wait for runs: their daemon stays, because nothing could start it again. What becomes of daemons that
// leave is in simulated/controls_test.cpp.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

#include "child.hpp"
#include "stream_members.hpp"

using namespace dfccl::gpu::test;

namespace {

// The limit of streams that wait, and not of this library: CUDA puts a device's streams on few hardware queues, 8
// unless CUDA_DEVICE_MAX_CONNECTIONS says more, and one that waits keeps all others of its queue waiting, among them
// those that a peer's run waits for. On four H200s this hung. Run it by its name and under a time limit.
void waitOnStreamsInAnyOrder() {
  constexpr int kIds = 8, kIterations = 200, kPerWait = 20;
  const GpuRanks ranks;
  const size_t counts[] = {1, 64, 1000, 4096, 20'000, 65'536, 100'000, 262'144};
  std::vector<std::vector<Member>> members;
  for (int id = 0; id < kIds; ++id) members.push_back(membersOf(ranks, id, counts[id]));
  std::mt19937 random(11);
  size_t wrong = 0;
  for (int i = 0; i < kIterations; ++i) {
    for (int r = 0; r < ranks.size(); ++r) {
      const std::vector<int> order = shuffledIds(kIds, random);
      cudaSetDevice(ranks.device(r));
      for (const int id : order) {
        const Member& m = members[static_cast<size_t>(id)][static_cast<size_t>(r)];
        // Neither the last iteration's input nor its result is what this one wants.
        cudaMemsetAsync(m.recv.data(), 0xff, m.input.bytes(), m.stream);
        m.fill();
        CHECK_OK(dfcclRunOnStream(m.send.data(), m.recv.data(), id, m.stream, nullptr, nullptr, ranks[r]));
        CHECK_OK(dfcclWaitOnStream(id, m.stream, ranks[r]));
        cudaMemsetAsync(m.send.data(), 0, m.input.bytes(), m.stream);
        m.read();
      }
    }
    if ((i + 1) % kPerWait != 0) continue;
    for (const auto& collective : members) {
      for (const Member& m : collective) {
        CHECK(m.stream.synchronize());
        wrong += !m.output.isAll(sumOfInputs(ranks));
        std::fill(m.output.data(), m.output.data() + m.output.bytes() / sizeof(int32_t), -1);
      }
    }
    CHECK_OK(ranks.waitAll());
  }
  CHECK(wrong == 0);
}

/// Each rank's thread puts runs on its streams in turn, and each stream waits for its own; the first is a run ahead.
void chainOnStreams() {
  const GpuRanks ranks(2);
  const std::vector<Member> members = membersOf(ranks, 1, 100);
  std::atomic<int> begun{0};
  std::vector<std::thread> threads;
  for (int r = 0; r < ranks.size(); ++r) {
    threads.emplace_back([&, r] {
      while (begun < r) std::this_thread::yield();
      const Member& m = members[static_cast<size_t>(r)];
      cudaSetDevice(ranks.device(r));
      std::vector<Stream> streams;
      for (int i = 0; i < 3; ++i) streams.emplace_back(ranks.device(r));
      for (size_t i = 0; i < 21; ++i) {
        const Stream& stream = streams[i % streams.size()];
        CHECK_OK(dfcclRunOnStream(m.send.data(), m.recv.data(), 1, stream, nullptr, nullptr, ranks[r]));
        begun = std::max<int>(begun, r + 1);
        CHECK_OK(dfcclWaitOnStream(1, stream, ranks[r]));
      }
      for (const Stream& stream : streams) CHECK(stream.synchronize());
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK_OK(ranks.waitAll());
}

const Child chains("chains on streams", chainOnStreams);
const Child waitingStreams("waiting streams in any order", waitOnStreamsInAnyOrder);

}  // namespace

// Where streams can't wait, the host does.
TEST_CASE("streams of few hardware queues are let wait without keeping others from coming to their runs") {
  for (const char* const connections : {"1", "2", "3", "8"}) {
    CAPTURE(std::string(connections));
    const ChildEnd end = runSelf({},
                                 {{"DFCCL_TEST_CHILD", "chains on streams"},
                                  {"CUDA_DEVICE_MAX_CONNECTIONS", connections},
                                  {"SIMULATED_DEVICES", "1"}},
                                 std::chrono::seconds(60));
    CHECK(end.hasEnded);
    CHECK(end.code == 0);
  }
}

// A daemon that had left could not be started: CUDA has no hardware queue left for it.
TEST_CASE("more streams wait than a device has hardware queues") {
  constexpr int kStreams = 64;
  const GpuRanks ranks;
  const std::vector<Member> members = membersOf(ranks, 1, 100);
  std::vector<Stream> streams;
  for (int i = 0; i < kStreams; ++i) streams.emplace_back(ranks.device(0));
  for (int i = 0; i < 10; ++i) {
    CHECK_OK(dfcclRun(members[0].send.data(), members[0].recv.data(), 1, nullptr, nullptr, ranks[0]));
    for (const Stream& stream : streams) CHECK_OK(dfcclWaitOnStream(1, stream, ranks[0]));
    outwaitStays();
    runAll(ranks, members, 1, 1);
    CHECK_OK(ranks.waitAll());
    for (const Stream& stream : streams) CHECK(stream.synchronize());
  }
}

// cudaFree lets nothing be launched on the device meanwhile, so a daemon that had left could not be started again.
TEST_CASE("memory is freed while a stream waits for a run that a peer has not submitted yet") {
  const GpuRanks ranks;
  const std::vector<Member> members = membersOf(ranks, 1, 1000);
  for (int i = 0; i < 40; ++i) {
    CHECK_OK(dfcclRunOnStream(members[0].send.data(), members[0].recv.data(), 1, members[0].stream, nullptr, nullptr,
                              ranks[0]));
    CHECK_OK(dfcclWaitOnStream(1, members[0].stream, ranks[0]));
    const Freeing freeing(ranks.device(0));
    if (i % 2 != 0) outwaitStays();
    runAll(ranks, members, 1, 1);
    CHECK_OK(ranks.waitAll());
  }
}

TEST_CASE("memory is freed while streams have yet to come to their runs, for which they then wait") {
  // Who frees has the driver of rank 0's device, and the test's only thread gives the other ranks' streams waits.
  if (!hasTwoGpus()) return;
  const GpuRanks ranks;
  std::vector<std::vector<Member>> members;
  for (int id = 0; id < 3; ++id) members.push_back(membersOf(ranks, id, 1000));
  for (int i = 0; i < 20; ++i) {
    Barrier barrier;
    for (int r = 0; r < ranks.size(); ++r) {
      cudaSetDevice(ranks.device(r));
      const Stream& stream = members[0][static_cast<size_t>(r)].stream;
      barrier.hold(stream);
      for (int id = 0; id < 3; ++id) {
        const Member& m = members[static_cast<size_t>(id)][static_cast<size_t>(r)];
        CHECK_OK(dfcclRunOnStream(m.send.data(), m.recv.data(), id, stream, nullptr, nullptr, ranks[r]));
        CHECK_OK(dfcclWaitOnStream(id, stream, ranks[r]));
      }
    }
    std::vector<std::unique_ptr<Freeing>> freeing;
    for (int r = 0; r < ranks.size(); ++r) freeing.push_back(std::make_unique<Freeing>(ranks.device(r)));
    outwaitStays();
    barrier.open();
    CHECK_OK(ranks.waitAll());
  }
}

TEST_CASE("a daemon leaves once no stream waits any more, and not before") {
  const GpuRanks ranks;
  const std::vector<Member> members = membersOf(ranks, 1, 1000);
  CHECK_OK(dfcclRun(members[0].send.data(), members[0].recv.data(), 1, nullptr, nullptr, ranks[0]));
  CHECK_OK(dfcclWaitOnStream(1, members[0].stream, ranks[0]));
  const uint64_t launches = countersOf(ranks[0]).launches;
  outwaitStays();
  CHECK(countersOf(ranks[0]).launches <= launches + 1);
  runAll(ranks, members, 1, 1);
  CHECK_OK(ranks.waitAll());
  // Else this would wait for ever.
  for (int r = 0; r < ranks.size(); ++r) {
    cudaSetDevice(ranks.device(r));
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
  }
}

TEST_CASE("a stream that waits longer than a stay may take is no fault") {
  const GpuRanks ranks;
  const std::vector<Member> members = membersOf(ranks, 1, 1000);
  CHECK_OK(dfcclRun(members[0].send.data(), members[0].recv.data(), 1, nullptr, nullptr, ranks[0]));
  CHECK_OK(dfcclWaitOnStream(1, members[0].stream, ranks[0]));
  // The daemon is inside since the call before this. That it gives up is what must not happen, and nothing tells of
  // what doesn't: longer is as good.
  std::this_thread::sleep_for(std::chrono::milliseconds(2500));
  runAll(ranks, members, 1, 1);
  CHECK_OK(ranks.waitAll());
  CHECK(members[0].stream.synchronize());
}

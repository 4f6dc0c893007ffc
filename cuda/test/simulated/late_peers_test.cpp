// A kernel's first launch while a stream waits for a run to which a peer comes late, as one that saves a checkpoint.
#include <atomic>
#include <chrono>
#include <latch>
#include <thread>
#include <vector>

#include "child.hpp"
#include "simulated/modules.hpp"
#include "simulated/unkindness.hpp"
#include "stream_members.hpp"

using namespace dfccl::gpu::test;

namespace {

constexpr int kFirst = 1, kSecond = 2, kUserModule = 0;

/// Rank 0 is ahead by a run, a kernel and another run; rank 1 comes to both only when streams of rank 0's wait for
/// both.
/// @param others streams that have waited before.
void goOnWithoutPeer(uint32_t others) {
  const GpuRanks ranks(2);
  const std::vector<Member> first = membersOf(ranks, kFirst, 100), second = membersOf(ranks, kSecond, 100);
  const auto runAndWait = [&](const Member& m, int id, cudaStream_t stream) {
    CHECK_OK(dfcclRunOnStream(m.send.data(), m.recv.data(), id, stream, nullptr, nullptr, ranks[0]));
    CHECK_OK(dfcclWaitOnStream(id, stream, ranks[0]));
  };
  REQUIRE(dfccl::gpu::simulated::loadModule(kUserModule) == cudaSuccess);
  runAll(ranks, first, kFirst);
  for (uint32_t i = 0; i < others; ++i) {
    const dfccl::gpu::test::Stream waits(ranks.device(0));
    CHECK_OK(dfcclWaitOnStream(kFirst, waits, ranks[0]));
    CHECK(waits.synchronize());
  }
  CHECK_OK(ranks.waitAll());
  first[0].fill();
  second[0].fill();
  runAndWait(first[0], kFirst, first[0].stream);
  std::latch areAwaited(1);
  std::thread late([&] {
    areAwaited.wait();
    for (const auto& [members, id] : {std::pair(&first, kFirst), std::pair(&second, kSecond)}) {
      const Member& m = (*members)[1];
      m.fill();
      CHECK(m.stream.synchronize());
      CHECK_OK(dfcclRun(m.send.data(), m.recv.data(), id, nullptr, nullptr, ranks[1]));
    }
  });
  const dfccl::gpu::test::Stream other(ranks.device(0));
  std::atomic<bool> isLaunched{false};
  REQUIRE(dfccl::gpu::simulated::launchUserKernel(
              other, kUserModule, [&] { isLaunched = true; }, 1) == cudaSuccess);
  runAndWait(second[0], kSecond, second[0].stream);
  areAwaited.count_down();
  for (const auto* members : {&first, &second}) {
    const Member& m = (*members)[0];
    m.read();
    CHECK(m.stream.synchronize());
    CHECK(m.output.isAll(sumOfInputs(ranks)));
  }
  CHECK(other.synchronize());
  CHECK(isLaunched);
  late.join();
  CHECK_OK(ranks.waitAll());
}

void goOnWithFewStreams() { goOnWithoutPeer(0); }
void goOnWithManyStreams() { goOnWithoutPeer(20); }

const Child few("goes on without a peer", goOnWithFewStreams);
const Child many("goes on without a peer, with many streams", goOnWithManyStreams);

}  // namespace

// It hung where the second wait was given behind what the first launch keeps back, after 2 s: the daemon then stayed
// for it, and the launch waited for the daemon. Now another daemon is launched behind it, which stays for it.
TEST_CASE("what a stream waits for behind a kernel's first launch completes however late a peer comes") {
  for (const char* const name : {"goes on without a peer", "goes on without a peer, with many streams"}) {
    CAPTURE(name);
    const ChildEnd end = runSelf({}, {{"DFCCL_TEST_CHILD", name}}, std::chrono::seconds(60));
    CHECK(end.hasEnded);
    CHECK(end.code == 0);
  }
}

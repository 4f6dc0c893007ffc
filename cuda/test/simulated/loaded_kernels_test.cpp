// CUDA loads a kernel's module when the device is idle, which it never is where a stream waits for a run that comes
// behind that call. So the engine's kernels are loaded when a rank is made (rule S5 of the design of streams).
#include "child.hpp"
#include "in_streams.hpp"
#include "simulated/modules.hpp"

using namespace dfccl::gpu::test;
using dfccl::gpu::simulated::engineModuleLoads;

namespace {

/// Rank 0 puts a run into each kind of stream there is while one waits for rank 1, which comes when all are there.
void runBesideAStreamThatWaits() {
  constexpr size_t kElements = 20;
  constexpr int kIdOfWaiting = 0, kIdOfBlocking = 1;
  const GpuRanks ranks(2);
  const GroupsInStreams groups(ranks);
  const std::vector<Member> waiting = membersOf(ranks, kIdOfWaiting, kElements);
  const std::vector<Member> blocking = membersOf(ranks, kIdOfBlocking, kElements);
  const std::vector<Member> launched = membersWith(ranks, kElements);
  const uint64_t before = engineModuleLoads();
  for (int r = 0; r < ranks.size(); ++r) {
    const auto at = static_cast<size_t>(r);
    const dfccl::gpu::test::Stream withDefault(ranks.device(r), 0, cudaStreamDefault);
    const auto run = [&](const Member& m, int id, cudaStream_t stream) {
      REQUIRE(cudaMemcpyAsync(m.send.data(), m.input.data(), m.input.bytes(), cudaMemcpyHostToDevice, stream) ==
              cudaSuccess);
      CHECK_OK(dfcclRunOnStream(m.send.data(), m.recv.data(), id, stream, nullptr, nullptr, ranks[r]));
      CHECK_OK(dfcclWaitOnStream(id, stream, ranks[r]));
    };
    run(waiting[at], kIdOfWaiting, waiting[at].stream);
    run(blocking[at], kIdOfBlocking, withDefault);
    launched[at].fill();
    CHECK_OK(sum(launched[at], kElements, groups[r], 0, launched[at].stream));
  }
  for (const auto* members : {&waiting, &blocking, &launched}) {
    for (const Member& m : *members) {
      CHECK(m.stream.synchronize());
    }
  }
  CHECK_OK(ranks.waitAll());
  for (const auto* members : {&waiting, &blocking, &launched}) {
    for (const Member& m : *members) CHECK(m.recv.get() == std::vector<int32_t>(kElements, sumOfInputs(ranks)));
  }
  CHECK(engineModuleLoads() == before);
}

const Child launching("first launches beside a stream that waits", runBesideAStreamThatWaits);

ChildEnd runUnprepared(const char* unprepared, std::chrono::seconds limit) {
  return runSelf(
      {}, {{"DFCCL_TEST_CHILD", "first launches beside a stream that waits"}, {"SIMULATED_UNPREPARED", unprepared}},
      limit);
}

}  // namespace

TEST_CASE("the engine's kernels are loaded when a rank is made, and none later") {
  const ChildEnd end = runUnprepared("0", std::chrono::seconds(60));
  CHECK(end.hasEnded);
  CHECK(end.code == 0);
}

TEST_CASE("control: where they are loaded when they are first launched, whoever launches waits for ever") {
  CHECK_FALSE(runUnprepared("1", std::chrono::seconds(4)).hasEnded);
}

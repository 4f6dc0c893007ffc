// Once streams have their waits, nobody is needed to launch anything (rule S4 of the design of streams): the threads
// that start daemons may stand behind the driver for good.
#include <cstdlib>
#include <random>

#include "child.hpp"
#include "simulated/modules.hpp"
#include "simulated/unkindness.hpp"
#include "stream_members.hpp"

using namespace dfccl::gpu::test;
using dfccl::gpu::simulated::awaitDaemonsOut;
using dfccl::gpu::simulated::Switched;
using dfccl::gpu::simulated::unkindness;

namespace {

/// Each rank puts each run behind a stream of its own, and lets another stream wait for it, in orders that differ.
void runWithStoppedKeepers() {
  constexpr int kIds = 4, kRounds = 3;
  constexpr size_t kCount = 300;
  const GpuRanks ranks(2);
  std::vector<std::vector<Member>> members;  // [id][rank]
  for (int id = 0; id < kIds; ++id) members.push_back(membersOf(ranks, id, kCount));
  std::mt19937 random(5);
  for (int round = 0; round < kRounds; ++round) {
    std::vector<dfccl::gpu::test::Stream> readers;
    Barrier barrier;
    for (int r = 0; r < ranks.size(); ++r) {
      cudaSetDevice(ranks.device(r));
      readers.emplace_back(ranks.device(r));
      for (const int id : shuffledIds(kIds, random)) {
        const Member& m = members[static_cast<size_t>(id)][static_cast<size_t>(r)];
        m.output.fill(-1);
        if (id == 0) barrier.hold(m.stream);
        m.fill();
        CHECK_OK(dfcclRunOnStream(m.send.data(), m.recv.data(), id, m.stream, nullptr, nullptr, ranks[r]));
      }
      for (const int id : shuffledIds(kIds, random)) {
        const Member& m = members[static_cast<size_t>(id)][static_cast<size_t>(r)];
        CHECK_OK(dfcclWaitOnStream(id, readers.back(), ranks[r]));
        REQUIRE(cudaMemcpyAsync(m.output.data(), m.recv.data(), m.output.bytes(), cudaMemcpyDeviceToHost,
                                readers.back()) == cudaSuccess);
      }
    }
    const Switched stopped(unkindness().stoppedKeepers, 1);
    outwaitStays();
    if (std::getenv("SIMULATED_LEAVES") != nullptr) {
      for (int r = 0; r < ranks.size(); ++r) awaitDaemonsOut(ranks.device(r));
    }
    barrier.open();
    for (const dfccl::gpu::test::Stream& reader : readers) CHECK(reader.synchronize());
    for (const auto& collective : members) {
      for (const Member& m : collective) CHECK(m.output.isAll(sumOfInputs(ranks)));
    }
  }
  CHECK_OK(ranks.waitAll());
}

const Child stopping("waits while nobody starts daemons", runWithStoppedKeepers);

ChildEnd runStopped(bool daemonsLeave, std::chrono::seconds limit) {
  std::vector<std::pair<const char*, const char*>> environment{
      {"DFCCL_TEST_CHILD", "waits while nobody starts daemons"}};
  if (daemonsLeave) environment.push_back({"SIMULATED_LEAVES", "1"});
  return runSelf({}, environment, limit);
}

}  // namespace

TEST_CASE("what streams wait for is over though the threads that start daemons are stopped for good") {
  const ChildEnd end = runStopped(false, std::chrono::seconds(60));
  CHECK(end.hasEnded);
  CHECK(end.code == 0);
}

TEST_CASE("control: where daemons leave although streams wait, it is not") {
  CHECK_FALSE(runStopped(true, std::chrono::seconds(4)).hasEnded);
}

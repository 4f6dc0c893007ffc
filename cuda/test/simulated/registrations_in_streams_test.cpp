// Runs that are kernels in streams need no daemon, not even where they are new: its launch may stand in a hardware
// queue behind a kernel that waits for them.
#include <optional>
#include <vector>

#include "call_beside.hpp"
#include "in_streams.hpp"
#include "simulated/modules.hpp"

using namespace dfccl::gpu::test;
using dfccl::gpu::simulated::KernelsHeld;

namespace {

constexpr uint64_t kNewRuns = 300;  // what daemons are told of as many is more than waits for one

struct NewRuns {
  NewRuns(size_t count, size_t arenaBytes)
      : count(count), ranks(2, 1, 8, 0, arenaBytes), groups(ranks), members(membersWith(ranks, count)) {
    for (const Member& m : members) m.fill();
  }
  void give(uint64_t firstTag, uint64_t runs) {
    for (uint64_t tag = firstTag; tag < firstTag + runs; ++tag) {
      for (int r = 0; r < ranks.size(); ++r) {
        const Member& m = members[static_cast<size_t>(r)];
        CHECK_OK(sum(m, count, groups[r], tag, m.stream));
      }
    }
  }
  /// That they are given while no kernel begins.
  void giveWhileNoneBegins(uint64_t firstTag, uint64_t runs) {
    CHECK_OK(ranks.waitAll());
    std::optional<CallBeside> call;
    {
      const KernelsHeld held(ranks.device(0)), other(ranks.device(1));
      call.emplace([&] { give(firstTag, runs); });
      CHECK(call->returns());
    }
    call.reset();
    await();
  }
  void await() {
    for (const Member& m : members) {
      m.read();
      CHECK(m.stream.synchronize());
      CHECK(m.output.isAll(sumOfInputs(ranks)));
    }
    CHECK_OK(ranks.waitAll());
  }

  const size_t count;
  const GpuRanks ranks;
  const GroupsInStreams groups;
  const std::vector<Member> members;
};

void runMany() {
  NewRuns runs(20, 0);
  runs.giveWhileNoneBegins(0, kNewRuns);
}

/// In memory that a third of them fills.
void runMoreThanHaveRoom() {
  constexpr uint64_t kAtOnce = 20, kMore = 5;
  NewRuns runs(kMostBytesInStreams / sizeof(int32_t), size_t{64} << 20);
  for (uint64_t tag = 0; tag < kNewRuns; tag += kAtOnce) {
    runs.give(tag, kAtOnce);
    runs.await();
  }
  runs.giveWhileNoneBegins(kNewRuns, kMore);
}

}  // namespace

TEST_CASE("any number of new runs is given to streams while no daemon can begin") {
  runMany();
  cudaSetDevice(0);  // as others expect it, behind what goes with the ranks
}

TEST_CASE("new runs are given to streams while no daemon can begin, where others have to go for them") {
  runMoreThanHaveRoom();
  cudaSetDevice(0);
}

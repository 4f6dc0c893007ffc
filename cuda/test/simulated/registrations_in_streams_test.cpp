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

constexpr size_t kOfNewRun = 20;
constexpr uint64_t kNewRuns = 300;  // what daemons are told of as many is more than waits for one

void runNew(const GpuRanks& ranks, const std::vector<Member>& members, const GroupsInStreams& groups) {
  for (uint64_t tag = 0; tag < kNewRuns; ++tag) {
    for (int r = 0; r < ranks.size(); ++r) {
      const Member& m = members[static_cast<size_t>(r)];
      CHECK_OK(sum(m, kOfNewRun, groups[r], tag, m.stream));
    }
  }
}

void runWhileNoKernelBegins() {
  const GpuRanks ranks(2);
  const GroupsInStreams groups(ranks);
  const std::vector<Member> members = membersWith(ranks, kOfNewRun);
  for (const Member& m : members) m.fill();
  CHECK_OK(ranks.waitAll());
  std::optional<CallBeside> call;
  {
    const KernelsHeld held(ranks.device(0)), other(ranks.device(1));
    call.emplace([&] { runNew(ranks, members, groups); });
    CHECK(call->returns());
  }
  call.reset();
  for (const Member& m : members) {
    m.read();
    CHECK(m.stream.synchronize());
    CHECK(m.output.isAll(sumOfInputs(ranks)));
  }
  CHECK_OK(ranks.waitAll());
}

}  // namespace

TEST_CASE("any number of new runs is given to streams while no daemon can begin") {
  runWhileNoKernelBegins();
  cudaSetDevice(0);  // as others expect it, behind what goes with the ranks
}

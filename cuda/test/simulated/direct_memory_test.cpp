// Which memory large runs move from and to directly, where the ranks are of one process.
#include "in_streams.hpp"
#include "simulated/captured_lanes.hpp"

using namespace dfccl::gpu::test;
using dfccl::gpu::simulated::lanesMovedDirectly;

namespace {

constexpr size_t kOfDirectSum = 300'001;

/// Lanes of a sum of two ranks that went directly. @param device of the second. @param isPool the first one's memory
uint64_t directLanes(int device, bool isPool) {
  const int devices[] = {0, device};
  const GpuRanks ranks(2, 1, 2, 0, 0, devices);
  const GroupsInStreams groups(ranks, dfcclForItsStream, size_t{1} << 30);
  const std::vector<Member> members = membersWith(ranks, kOfDirectSum);
  int32_t* pool = nullptr;
  cudaSetDevice(0);
  REQUIRE(cudaMallocAsync(reinterpret_cast<void**>(&pool), kOfDirectSum * sizeof(int32_t), members[0].stream) ==
          cudaSuccess);
  const uint64_t before = lanesMovedDirectly();
  for (int r = 0; r < 2; ++r) {
    const Member& m = members[static_cast<size_t>(r)];
    m.fill();
    int32_t* const recv = isPool && r == 0 ? pool : m.recv.data();
    CHECK_OK(dfcclAllReduce(m.send.data(), recv, kOfDirectSum, dfcclInt32, dfcclSum, groups[r], 0, m.stream, nullptr));
  }
  for (const Member& m : members) CHECK(m.stream.synchronize());
  CHECK(std::all_of(isPool ? pool : members[0].recv.data(), (isPool ? pool : members[0].recv.data()) + kOfDirectSum,
                    [](int32_t value) { return value == 1 + 2; }));
  CHECK_OK(ranks.waitAll());
  cudaFree(pool);
  return lanesMovedDirectly() - before;
}

}  // namespace

TEST_CASE("large runs go directly but for memory of pools that another device has to reach") {
  CHECK(directLanes(1, false) > 0);
  CHECK(directLanes(1, true) == 0);
  CHECK(directLanes(0, true) > 0);
}

// Places of ranks' collectives that others get after them.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "support.hpp"

using namespace dfccl::gpu::test;

// What a registration of all ranks stores when its last member comes, went to the place that an earlier one had given
// back.
TEST_CASE("a rank's place is the next collective's when it leaves before the others have come") {
  constexpr int kAbandoned = 1, kFiller = 2, kNext = 3;
  constexpr size_t kCount = 1000;
  constexpr uint64_t kLimitMicros = 20'000'000;
  const GpuRanks ranks(3, 1, 4, 2);
  const int pair[] = {0, 1};
  const dfcclDevSet_t both{pair, 2};
  const int first[] = {0};
  const dfcclDevSet_t alone{first, 1};
  const auto sums = [&](int id, int rank, size_t count, dfcclDevSet_t of) {
    CHECK_OK(dfcclRegisterAllReduce(count, dfcclInt32, dfcclSum, id, of, 0, ranks[rank]));
  };
  sums(kAbandoned, 0, 7, dfcclAllRanks());
  sums(kAbandoned, 1, 7, dfcclAllRanks());
  CHECK_OK(dfcclUnregister(kAbandoned, ranks[0]));
  sums(kFiller, 0, 1, alone);
  sums(kNext, 0, kCount, both);
  sums(kNext, 1, kCount, both);
  sums(kAbandoned, 2, 7, dfcclAllRanks());
  std::vector<DeviceArray<int32_t>> in, out;
  for (int r = 0; r < 2; ++r) {
    in.emplace_back(ranks.device(r), kCount);
    out.emplace_back(ranks.device(r), kCount);
    in.back().set(std::vector<int32_t>(kCount, 5 + r));
  }
  for (int r = 0; r < 2; ++r) {
    const auto at = static_cast<size_t>(r);
    CHECK_OK(dfcclRun(in[at].data(), out[at].data(), kNext, nullptr, nullptr, ranks[r]));
  }
  for (int r = 0; r < 2; ++r) {
    CHECK_OK(dfcclWaitFor(kLimitMicros, ranks[r]));
    CHECK(out[static_cast<size_t>(r)].get() == std::vector<int32_t>(kCount, 11));
  }
}

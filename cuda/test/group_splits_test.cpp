// Groups that are split: the members tell each other what they choose through memory of their devices.
#include <thread>
#include <vector>

#include "support.hpp"

using namespace dfccl::gpu::test;

// The host's memory that it was told through was refused, as no device memory.
TEST_CASE("ranks on GPUs split a group") {
  constexpr int kRanks = 3;
  const GpuRanks ranks(kRanks);
  std::vector<dfcclGroup_t> parts(kRanks, nullptr);
  std::vector<std::thread> threads;
  for (int r = 0; r < kRanks; ++r) {
    threads.emplace_back([&, r] {
      dfcclGroup_t all = nullptr;
      CHECK_OK(dfcclGroupCreate(nullptr, 0, 0, &all, ranks[r]));
      const auto part = static_cast<size_t>(r);
      CHECK_OK(dfcclGroupSplit(all, r == 1 ? -1 : 4, -r, 0, &parts[part]));
      int size = 0, place = -1;
      if (r != 1) CHECK_OK(dfcclGroupGetRankCount(&size, parts[part]));
      if (r != 1) CHECK_OK(dfcclGroupGetRank(&place, parts[part]));
      CHECK(size == (r == 1 ? 0 : 2));
      CHECK(place == (r == 2 ? 0 : r == 0 ? 1 : -1));
      CHECK_OK(dfcclGroupDestroy(parts[part]));
      CHECK_OK(dfcclGroupDestroy(all));
    });
  }
  for (std::thread& thread : threads) thread.join();
}

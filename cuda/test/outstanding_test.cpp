// More is outstanding than a rank has slots for, in opposite orders on two ranks: all of it completes.
#include "streams.hpp"

using namespace dfccl::gpu::test;

namespace {

constexpr int kRuns = 1500;  // of each id: more than the shared slots

void completesInOppositeOrders(bool behindStreams) {
  const GpuRanks ranks(2);
  std::vector<Stream> streams;
  std::vector<DeviceArray<int32_t>> data;
  for (int r = 0; r < 2; ++r) {
    streams.emplace_back(ranks.device(r));
    for (int id = 0; id < 2; ++id) {
      data.emplace_back(ranks.device(r), 1);
      data.back().set({1});
      CHECK_OK(dfcclRegisterAllReduce(1, dfcclInt32, dfcclMax, id, dfcclAllRanks(), 0, ranks[r]));
    }
  }
  int refused = 0;
  for (int r = 0; r < 2; ++r) {
    for (int half = 0; half < 2; ++half) {
      const int id = (r + half) % 2;
      int32_t* const x = data[static_cast<size_t>(2 * r + id)].data();
      for (int k = 0; k < kRuns; ++k) {
        const bool isBehind = behindStreams && k % 3 == 0;
        refused += (isBehind ? dfcclRunOnStream(x, x, id, static_cast<cudaStream_t>(streams[static_cast<size_t>(r)]),
                                                nullptr, nullptr, ranks[r])
                             : dfcclRun(x, x, id, nullptr, nullptr, ranks[r])) != dfcclSuccess;
      }
    }
  }
  CHECK(refused == 0);
  CHECK_OK(ranks.waitAll());
  for (const DeviceArray<int32_t>& one : data) CHECK(one.get() == std::vector<int32_t>{1});
}

}  // namespace

TEST_CASE("more runs than there are slots complete in opposite orders") { completesInOppositeOrders(false); }

TEST_CASE("more runs than there are slots complete in opposite orders, some behind streams") {
  completesInOppositeOrders(true);
}

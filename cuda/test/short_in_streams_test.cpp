// Runs in streams that are so short that workers hold their lines, or nearly so.
#include "large_runs.hpp"

using namespace dfccl::gpu::test;

// A part of a line; a line; lines of a block's workers and one more; two blocks; and as many as just don't fit a
// worker.
TEST_CASE("short runs in streams have the right results, of any count, in and out of place, at any address") {
  for (const int size : {2, 3, 5, 8, 9}) {
    const GpuRanks ranks(size);
    const GroupsInStreams groups(ranks, dfcclForAll, kMostLargeBytes);
    const std::vector<LargeBuffers> buffers = buffersOf(ranks);
    for (const size_t count : {size_t{1}, size_t{2}, size_t{7}, size_t{897}, size_t{2049}, size_t{20'003}}) {
      for (const LargeForm form : kLargeForms) {
        for (const bool isInPlace : {false, true}) {
          for (int round = 0; round < 2; ++round) {
            checkForm(ranks, groups, buffers, form, isInPlace, round, count, static_cast<size_t>(round));
          }
        }
      }
    }
    CHECK_OK(ranks.waitAll());
  }
}

// The first runs of a collective ask the host, and go another way.
TEST_CASE("short runs go on being right when their kernels know the members") {
  const GpuRanks ranks(3);
  const GroupsInStreams groups(ranks, dfcclForAll, kMostLargeBytes);
  const std::vector<LargeBuffers> buffers = buffersOf(ranks);
  for (int round = 0; round < 40; ++round) {
    for (const LargeForm form : kLargeForms) checkForm(ranks, groups, buffers, form, round % 2 == 0, round, 1001, 0);
  }
  CHECK_OK(ranks.waitAll());
}

namespace {

void checkOtherReductions(int size) {
  const GpuRanks ranks(size);
  const Groups daemons(ranks);
  const GroupsInStreams kernels(ranks);
  const auto check = [&]<class T>(dfcclDataType_t type, dfcclRedOp_t op, T least) {
    INFO(size, " ranks, type ", static_cast<int>(type), ", operator ", static_cast<int>(op));
    constexpr size_t kCount = 333;  // of a segment, which no line ends with
    const size_t all = static_cast<size_t>(size) * kCount;
    std::vector<std::vector<T>> results[2];
    for (const bool isKernel : {false, true}) {
      std::vector<DeviceArray<T>> send, recv;
      std::vector<Stream> streams;
      std::vector<dfcclRequest_t> requests(static_cast<size_t>(size));
      for (int r = 0; r < size; ++r) {
        send.emplace_back(ranks.device(r), all);
        recv.emplace_back(ranks.device(r), kCount);
        streams.emplace_back(ranks.device(r));
        std::vector<T> values(all);
        for (size_t i = 0; i < values.size(); ++i) {
          values[i] = static_cast<T>(least * static_cast<T>(1 + (i + static_cast<size_t>(r)) % 3));
        }
        send.back().set(values);
      }
      for (int r = 0; r < size; ++r) {
        const auto at = static_cast<size_t>(r);
        CHECK_OK(dfcclReduceScatter(send[at].data(), recv[at].data(), kCount, type, op,
                                    isKernel ? kernels[r] : daemons[r], 0, streams[at], &requests[at]));
      }
      CHECK_OK(dfcclWaitRuns(requests.data(), size, 0));
      for (const DeviceArray<T>& each : recv) results[isKernel ? 1 : 0].push_back(each.get());
    }
    CHECK(results[0] == results[1]);
  };
  check(dfcclInt8, dfcclSum, int8_t{3});
  check(dfcclUint8, dfcclMax, uint8_t{40});
  check(dfcclFloat32, dfcclAvg, 1.1F);
  check(dfcclFloat32, dfcclSum, 0.1F);
  check(dfcclFloat64, dfcclMin, 0.25);
  check(dfcclFloat64, dfcclProd, 1.7);
  check(dfcclInt64, dfcclSum, int64_t{5'000'000'000});
  CHECK_OK(ranks.waitAll());
}

}  // namespace

TEST_CASE("short reductions of other types and operators have the bits that they have elsewhere") {
  for (const int size : {3, 7}) checkOtherReductions(size);
}

// Batches behind streams, and streams behind them.
#include <memory>

#include "stream_members.hpp"

using namespace dfccl::gpu::test;

namespace {

/// One rank in two groups, with a stream for each.
struct Seat {
  Seat(const GpuRanks& ranks, int rank, size_t count) : sums(ranks, rank, count), shifts(ranks, rank, count) {
    for (int g = 0; g < 2; ++g)
      REQUIRE(dfcclGroupCreate(nullptr, 0, static_cast<uint64_t>(g), &groups[g], ranks[rank]) == dfcclSuccess);
  }
  ~Seat() {
    for (const dfcclGroup_t group : groups) CHECK_OK(dfcclGroupDestroy(group));
  }

  Member sums, shifts;
  dfcclGroup_t groups[2] = {};
};

}  // namespace

TEST_CASE("a stream waits for a batch of two groups and two streams as for one run") {
  constexpr size_t kCount = 300;
  const GpuRanks ranks;
  const int n = ranks.size();
  std::vector<std::unique_ptr<Seat>> seats;
  for (int r = 0; r < n; ++r) seats.push_back(std::make_unique<Seat>(ranks, r, kCount));
  Barrier barrier;
  std::vector<dfcclRequest_t> wholes(static_cast<size_t>(n));
  for (int r = 0; r < n; ++r) {
    Seat& seat = *seats[static_cast<size_t>(r)];
    cudaSetDevice(ranks.device(r));
    barrier.hold(seat.sums.stream);
    seat.sums.fill();
    seat.shifts.fill();
    CHECK_OK(dfcclBatchBegin());
    // All goes to the right neighbour.
    std::vector<size_t> sends(static_cast<size_t>(n), 0), recvs(static_cast<size_t>(n), 0);
    sends[static_cast<size_t>((r + 1) % n)] = kCount;
    recvs[static_cast<size_t>((r + n - 1) % n)] = kCount;
    CHECK_OK(dfcclAllToAllV(seat.shifts.send.data(), sends.data(), nullptr, seat.shifts.recv.data(), recvs.data(),
                            nullptr, dfcclInt32, seat.groups[0], 0, seat.shifts.stream, nullptr));
    CHECK_OK(dfcclAllReduce(seat.sums.send.data(), seat.sums.recv.data(), kCount, dfcclInt32, dfcclSum, seat.groups[1],
                            0, seat.sums.stream, nullptr));
    CHECK_OK(dfcclBatchEnd(&wholes[static_cast<size_t>(r)]));
  }
  // What waits for all of it reads both results.
  const Seat& reader = *seats[0];
  const Stream last(ranks.device(0));
  CHECK_OK(dfcclWaitRunOnStream(wholes[0], last));
  for (const Member* m : {&reader.sums, &reader.shifts}) {
    cudaSetDevice(ranks.device(0));
    REQUIRE(cudaMemcpyAsync(m->output.data(), m->recv.data(), m->output.bytes(), cudaMemcpyDeviceToHost, last) ==
            cudaSuccess);
  }
  for (int i = 0; i < 20; ++i) CHECK_OK(dfcclPoll(nullptr, ranks[0]));
  CHECK(cudaStreamQuery(last) == cudaErrorNotReady);
  CHECK(dfcclWaitRun(wholes[0], 1000) == dfcclTimeout);
  barrier.open();
  CHECK(last.synchronize());
  CHECK(reader.sums.output.isAll(n * (n + 1) / 2));
  CHECK(reader.shifts.output.isAll(n));
  CHECK_OK(dfcclWaitRuns(wholes.data(), n, 0));
  CHECK_OK(ranks.waitAll());
}

// A rank that is killed or stopped while runs are under way, as the others see it.
#include <unistd.h>

#include <cstdio>
#include <vector>

#include "bench/pattern.cuh"
#include "bench/rank_buffers.hpp"
#include "bench/rank_tasks.hpp"

namespace dfccl::gpu::bench {
namespace {

/// Registered under id 1, of 4 KB or 16 MB.
struct Sum {
  uint64_t count;
  Floats in, out;

  Sum(const Seat& seat, bool isLarge) : count(isLarge ? 4'000'000 : 1000), in(count), out(count) {
    fill(in.data(), count, seat.rank, 0, seat.stream);
    DFCCL_CUDA(cudaStreamSynchronize(seat.stream));
    registerSum(seat, count, 1);
  }
};

}  // namespace

void workUntilStruck(Seat& seat, bool isLarge) {
  const Sum sum(seat, isLarge);
  const auto& [count, in, out] = sum;
  std::vector<dfcclResult_t> statuses;
  const auto note = [](void* list, dfcclResult_t status) {
    static_cast<std::vector<dfcclResult_t>*>(list)->push_back(status);
  };
  const uint64_t begin = nowNanos();
  while (nowNanos() - begin < 40'000'000'000) {
    statuses.clear();
    const uint64_t submittedAt = nowNanos();
    DFCCL_EXPECT(dfcclRun(in.data(), out.data(), 1, note, &statuses, seat.context));
    DFCCL_EXPECT(dfcclWaitFor(25'000'000, seat.context));
    if (statuses.empty() || statuses[0] == dfcclSuccess) {
      if (seat.rank == 1) seat.barrier.words[0].fetchAdd(1, order::relaxed);
      continue;
    }
    const double waited = static_cast<double>(nowNanos() - submittedAt) * 1e-6;
    int lost[8] = {}, lostCount = 0;
    // Between machines each rank judges for itself who is gone, and another may have done so first.
    for (const uint64_t from = nowNanos(); lostCount == 0 && nowNanos() - from < 5'000'000'000; usleep(1000)) {
      DFCCL_EXPECT(dfcclGetLostRanks(lost, 8, &lostCount, seat.context));
    }
    const bool isNamed = lostCount == 1 && lost[0] == 1;
    // What is freed and made now must not meet what the dead one's memory was.
    DFCCL_EXPECT(dfcclUnregister(1, seat.context));
    unsigned wrong = 0;
    double again = 0;
    if (seat.ranks > 2 && isNamed) {
      std::vector<int> survivors;
      for (uint32_t r = 0; r < seat.ranks; ++r) {
        if (r != 1) survivors.push_back(static_cast<int>(r));
      }
      const dfcclDevSet_t set = {survivors.data(), static_cast<int>(survivors.size())};
      const uint64_t from = nowNanos();
      DFCCL_EXPECT(dfcclRegisterAllReduce(count, dfcclFloat32, dfcclSum, 2, set, 0, seat.context));
      statuses.clear();
      DFCCL_EXPECT(dfcclRun(in.data(), out.data(), 2, note, &statuses, seat.context));
      DFCCL_EXPECT(dfcclWaitFor(20'000'000, seat.context));
      again = static_cast<double>(nowNanos() - from) * 1e-6;
      std::vector<float> sums(count);
      DFCCL_CUDA(cudaMemcpy(sums.data(), out.data(), count * 4, cudaMemcpyDeviceToHost));
      for (uint64_t i = 0; i < count; ++i) {
        float expected = 0;
        for (const int r : survivors) expected += patternOf(i, static_cast<uint32_t>(r), 0);
        wrong += sums[i] != expected;
      }
      DFCCL_EXPECT(dfcclUnregister(2, seat.context));
    }
    std::printf(
        "{\"check\":\"struck\",\"rank\":%u,\"status\":%d,\"named\":%s,\"endedAfterMs\":%.1f,\"survivorsMs\":%.1f,"
        "\"wrong\":%u,\"cuda\":\"%s\"}\n",
        seat.rank, static_cast<int>(statuses.empty() ? dfcclSuccess : statuses[0]), isNamed ? "true" : "false", waited,
        again, wrong, cudaGetErrorName(cudaDeviceSynchronize()));
    std::fflush(stdout);
    if (!isNamed || wrong != 0) throw SeatError("the dead rank was not named, or the survivors' sums are wrong");
    return;
  }
  throw SeatError("nobody was struck");
}

void workUntilCutOff(Seat& seat, bool isLarge) {
  const Sum sum(seat, isLarge);
  dfcclResult_t status = dfcclSuccess;
  const auto note = [](void* at, dfcclResult_t result) { *static_cast<dfcclResult_t*>(at) = result; };
  uint64_t submittedAt = 0;
  while (status == dfcclSuccess) {
    submittedAt = nowNanos();
    DFCCL_EXPECT(dfcclRun(sum.in.data(), sum.out.data(), 1, note, &status, seat.context));
    DFCCL_EXPECT(dfcclWaitFor(25'000'000, seat.context));
    if (status == dfcclSuccess) seat.barrier.words[0].fetchAdd(1, order::relaxed);
  }
  const double waited = static_cast<double>(nowNanos() - submittedAt) * 1e-6;
  int survivors[8] = {}, survivorCount = 0;
  const dfcclResult_t agreed = dfcclAgreeOnSurvivors(20'000'000, survivors, 8, &survivorCount, seat.context);
  std::printf("{\"check\":\"cut off\",\"rank\":%u,\"status\":%d,\"endedAfterMs\":%.1f,\"told\":\"%s\"}\n", seat.rank,
              static_cast<int>(status), waited, agreed == dfcclSuccess ? "" : dfcclGetLastError());
  std::fflush(stdout);
  if (agreed != dfcclAborted) throw SeatError("a rank that is cut off was not told that it can't go on");
}

}  // namespace dfccl::gpu::bench

// Times of ranks that are threads of one process, or processes, so that they can be compared.
#include <algorithm>
#include <cstdio>
#include <numeric>
#include <random>
#include <vector>

#include "bench/all_reduces.hpp"
#include "bench/pattern.cuh"
#include "bench/rank_buffers.hpp"
#include "bench/rank_tasks.hpp"

namespace dfccl::gpu::bench {

void checkOrders(Seat& seat, const std::string& list, uint64_t iterations) {
  constexpr int kFirst = 500;
  const std::vector<uint64_t> counts = elementCountsOf(list);
  std::vector<uint64_t> at;
  uint64_t total = 0;
  for (uint64_t k = 0; k < counts.size(); ++k) {
    at.push_back(total);
    total += (counts[k] + 63) / 64 * 64;
    registerSum(seat, counts[k], kFirst + static_cast<int>(k));
  }
  const Floats in(total), out(total);
  const Wrong wrong;
  for (uint32_t k = 0; k < counts.size(); ++k) fill(in.data() + at[k], counts[k], seat.rank, k, seat.stream);
  DFCCL_CUDA(cudaStreamSynchronize(seat.stream));
  std::mt19937_64 random(1000 + seat.rank);
  std::vector<uint32_t> order(counts.size());
  std::iota(order.begin(), order.end(), 0u);
  std::vector<double> times;
  for (uint64_t i = 0; i < iterations; ++i) {
    DFCCL_CUDA(cudaMemsetAsync(out.data(), 0xff, total * 4, seat.stream));
    DFCCL_CUDA(cudaStreamSynchronize(seat.stream));
    std::shuffle(order.begin(), order.end(), random);
    seat.meet();
    const uint64_t begin = nowNanos();
    for (const uint32_t k : order) {
      DFCCL_EXPECT(dfcclRun(in.data() + at[k], out.data() + at[k], kFirst + static_cast<int>(k), nullptr, nullptr,
                            seat.context));
      if (i % 2 == 1 && random() % 32 == 0) DFCCL_CUDA(cudaDeviceSynchronize());
    }
    seat.wait();
    if (i % 2 == 0 && i >= 2) times.push_back(static_cast<double>(nowNanos() - begin) * 1e-3);
    for (uint32_t k = 0; k < counts.size(); ++k) {
      checkSum(out.data() + at[k], counts[k], seat.ranks, k, wrong.at(), seat.stream);
    }
    DFCCL_CUDA(cudaStreamSynchronize(seat.stream));
    seat.meet();
  }
  const unsigned found = wrong.read(seat.stream);
  if (times.empty()) times.push_back(0);
  std::printf(
      "{\"as\":\"%s\",\"check\":\"orders\",\"list\":\"%s\",\"rank\":%u,\"ranks\":%u,\"iterations\":%lu,\"wrong\":%u,"
      "\"medianUs\":%.1f,\"p10Us\":%.1f,\"p90Us\":%.1f}\n",
      kindOf(seat), list.c_str(), seat.rank, seat.ranks, iterations, found, median(times), percentile(times, 0.1),
      percentile(times, 0.9));
  std::fflush(stdout);
  if (found != 0) throw SeatError("wrong gradients");
  for (size_t k = 0; k < counts.size(); ++k) {
    DFCCL_EXPECT(dfcclUnregister(kFirst + static_cast<int>(k), seat.context));
  }
  seat.meet();
}

void timeSums(Seat& seat, uint64_t bytes, uint32_t outstanding, bool isAllocated) {
  constexpr int kFirst = 800;
  const uint64_t count = bytes / 4;
  const uint64_t rounds = bytes >= (64u << 20) ? 20 : bytes >= (4u << 20) ? 60 : 300;
  const uint64_t warmUps = rounds / 4;
  const uint64_t stride = (count + 63) / 64 * 64;
  const dfcclRankCtx_t allocator = isAllocated ? seat.context : nullptr;
  const Floats in(stride * outstanding, allocator), out(stride * outstanding, allocator);
  const Wrong wrong;
  for (uint32_t k = 0; k < outstanding; ++k) {
    registerSum(seat, count, kFirst + static_cast<int>(k));
    fill(in.data() + k * stride, count, seat.rank, k, seat.stream);
  }
  DFCCL_CUDA(cudaStreamSynchronize(seat.stream));
  std::vector<double> times;
  for (uint64_t i = 0; i < rounds + warmUps; ++i) {
    if (i % 16 == 0) seat.meet();
    const uint64_t begin = nowNanos();
    for (uint32_t k = 0; k < outstanding; ++k) {
      DFCCL_EXPECT(dfcclRun(in.data() + k * stride, out.data() + k * stride, kFirst + static_cast<int>(k), nullptr,
                            nullptr, seat.context));
    }
    seat.wait();
    if (i >= warmUps && i % 16 != 0) times.push_back(static_cast<double>(nowNanos() - begin) * 1e-3);
  }
  for (uint32_t k = 0; k < outstanding; ++k) {
    checkSum(out.data() + k * stride, count, seat.ranks, k, wrong.at(), seat.stream);
  }
  const unsigned found = wrong.read(seat.stream);
  if (seat.rank == 0) {
    const double each = median(times) / outstanding;
    std::printf(
        "{\"as\":\"%s\",\"measure\":\"all-reduce\",\"ranks\":%u,\"bytes\":%lu,\"outstanding\":%u,\"us\":%.2f,"
        "\"p10\":%.2f,\"p90\":%.2f,\"algbwGBs\":%.2f,\"wrong\":%u}\n",
        kindOf(seat), seat.ranks, bytes, outstanding, each, percentile(times, 0.1) / outstanding,
        percentile(times, 0.9) / outstanding, static_cast<double>(bytes) / each * 1e-3, found);
    std::fflush(stdout);
  }
  if (found != 0) throw SeatError("wrong sums");
  seat.meet();
  for (uint32_t k = 0; k < outstanding; ++k) DFCCL_EXPECT(dfcclUnregister(kFirst + static_cast<int>(k), seat.context));
  seat.meet();
}

}  // namespace dfccl::gpu::bench

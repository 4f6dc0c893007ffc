// Results of ranks that are threads of one process, or processes.
#include <cstdio>
#include <vector>

#include "bench/pattern.cuh"
#include "bench/rank_buffers.hpp"
#include "bench/rank_tasks.hpp"

namespace dfccl::gpu::bench {
namespace {

void say(const Seat& seat, const char* check, const char* what, unsigned wrong, double value = 0) {
  std::printf("{\"as\":\"%s\",\"check\":\"%s\",\"rank\":%u,\"what\":\"%s\",\"wrong\":%u,\"value\":%.3f}\n",
              kindOf(seat), check, seat.rank, what, wrong, value);
  std::fflush(stdout);
}

/// Sums of every size, and what moves otherwise than an all-reduce does, in new buffers of small and large allocations.
void checkSums(Seat& seat) {
  int id = 0;
  for (const uint64_t count : {2ul, 1000ul, 65'536ul, 200'000ul, 1'000'003ul, 33'554'432ul}) {
    const uint64_t begin = nowNanos();
    const Floats in(count), out(count);
    const Wrong wrong;
    registerSum(seat, count, ++id);
    for (uint32_t k = 0; k < 4; ++k) {
      fill(in.data(), count, seat.rank, k, seat.stream);
      DFCCL_CUDA(cudaMemsetAsync(out.data(), 0xff, count * 4, seat.stream));
      DFCCL_CUDA(cudaStreamSynchronize(seat.stream));
      DFCCL_EXPECT(dfcclRun(in.data(), out.data(), id, nullptr, nullptr, seat.context));
      seat.wait();
      checkSum(out.data(), count, seat.ranks, k, wrong.at(), seat.stream);
      seat.meet();
    }
    const unsigned found = wrong.read(seat.stream);
    say(seat, "sums", std::to_string(count).c_str(), found, static_cast<double>(nowNanos() - begin) * 1e-6);
    if (found != 0) throw SeatError("wrong sums");
    DFCCL_EXPECT(dfcclUnregister(id, seat.context));
    seat.meet();  // buffers are freed at the end of this scope
  }
}

/// Gathers whose buffers share a page of the driver's with others.
void checkGathers(Seat& seat) {
  for (const uint64_t count : {4ul, 500ul, 300'000ul}) {
    const int id = 100 + static_cast<int>(count % 97);
    void *in = nullptr, *out = nullptr;
    const bool isOurs = count == 500;  // from dfcclAllocate
    if (isOurs) {
      DFCCL_EXPECT(dfcclAllocate(count * 4, &in, seat.context));
      DFCCL_EXPECT(dfcclAllocate(count * 4 * seat.ranks, &out, seat.context));
    } else {
      DFCCL_CUDA(cudaMalloc(&in, count * 4));
      DFCCL_CUDA(cudaMalloc(&out, count * 4 * seat.ranks));
    }
    DFCCL_EXPECT(dfcclRegisterAllGather(count, dfcclInt32, id, dfcclAllRanks(), 0, seat.context));
    unsigned wrong = 0;
    for (int run = 0; run < 3; ++run) {
      std::vector<int32_t> mine(count), all(count * seat.ranks);
      for (uint64_t i = 0; i < count; ++i) mine[i] = static_cast<int32_t>(i * 10 + seat.rank + 1000 * run);
      DFCCL_CUDA(cudaMemcpyAsync(in, mine.data(), count * 4, cudaMemcpyHostToDevice, seat.stream));
      DFCCL_CUDA(cudaStreamSynchronize(seat.stream));
      DFCCL_EXPECT(dfcclRun(in, out, id, nullptr, nullptr, seat.context));
      seat.wait();
      DFCCL_CUDA(cudaMemcpyAsync(all.data(), out, all.size() * 4, cudaMemcpyDeviceToHost, seat.stream));
      DFCCL_CUDA(cudaStreamSynchronize(seat.stream));
      for (uint64_t i = 0; i < all.size(); ++i) {
        wrong += all[i] != static_cast<int32_t>(i % count * 10 + i / count + 1000 * run);
      }
      seat.meet();
    }
    say(seat, "gathers", std::to_string(count).c_str(), wrong);
    if (wrong != 0) throw SeatError("wrong gathers");
    DFCCL_EXPECT(dfcclUnregister(id, seat.context));
    seat.meet();
    if (isOurs) {
      DFCCL_EXPECT(dfcclFree(in, count * 4, seat.context));
      DFCCL_EXPECT(dfcclFree(out, count * 4 * seat.ranks, seat.context));
    } else {
      DFCCL_CUDA(cudaFree(in));
      DFCCL_CUDA(cudaFree(out));
    }
  }
}

/// Buffers that are freed and made anew between runs, mostly at the same address, without a word to dfccl.
void checkChurn(Seat& seat) {
  constexpr uint64_t kCount = 2'000'000;
  constexpr int kId = 300;
  registerSum(seat, kCount, kId);
  unsigned found = 0, sameAddress = 0;
  const float* before = nullptr;
  for (uint32_t k = 0; k < 40; ++k) {
    const Floats in(kCount), out(kCount);
    sameAddress += in.data() == before;
    before = in.data();
    const Wrong wrong;
    fill(in.data(), kCount, seat.rank, k, seat.stream);
    DFCCL_CUDA(cudaMemsetAsync(out.data(), 0xff, kCount * 4, seat.stream));
    DFCCL_CUDA(cudaStreamSynchronize(seat.stream));
    DFCCL_EXPECT(dfcclRun(in.data(), out.data(), kId, nullptr, nullptr, seat.context));
    seat.wait();
    checkSum(out.data(), kCount, seat.ranks, k, wrong.at(), seat.stream);
    found += wrong.read(seat.stream);
    seat.meet();
  }
  say(seat, "churn", "buffers made anew 40 times; value: how often at the same address", found, sameAddress);
  if (found != 0) throw SeatError("wrong sums after buffers were made anew");
  DFCCL_EXPECT(dfcclUnregister(kId, seat.context));
  seat.meet();
}

/// The same while every rank has a run under way that the others join in the end, so that no device is ever idle, and
/// with so many runs in each buffer that it comes to be mapped.
void checkBusyChurn(Seat& seat) {
  constexpr uint64_t kCount = 2'000'000;
  constexpr int kFirstKept = 311;
  dfcclGroup_t group = nullptr;
  DFCCL_EXPECT(dfcclGroupCreate(nullptr, 0, 0, &group, seat.context));
  for (uint32_t r = 0; r < seat.ranks; ++r) registerSum(seat, 1, kFirstKept + static_cast<int>(r));
  const Floats kept(64 * seat.ranks), sums(64 * seat.ranks);
  const auto runKept = [&](uint32_t r) {
    DFCCL_EXPECT(dfcclRun(kept.data() + 64 * r, sums.data() + 64 * r, kFirstKept + static_cast<int>(r), nullptr,
                          nullptr, seat.context));
  };
  runKept(seat.rank);
  unsigned found = 0;
  std::vector<double> times;
  for (uint32_t k = 0; k < 12; ++k) {
    const Floats in(kCount), out(kCount);
    fill(in.data(), kCount, seat.rank, k, seat.stream);
    for (uint32_t again = 0; again < 200; ++again) {
      const bool isChecked = again % 50 == 49;
      if (isChecked) DFCCL_CUDA(cudaMemsetAsync(out.data(), 0xff, kCount * 4, seat.stream));
      DFCCL_CUDA(cudaStreamSynchronize(seat.stream));
      seat.meet();
      const uint64_t begin = nowNanos();
      dfcclRequest_t request = nullptr;
      DFCCL_EXPECT(dfcclAllReduce(in.data(), out.data(), kCount, dfcclFloat32, dfcclSum, group, 0, nullptr, &request));
      DFCCL_EXPECT(dfcclWaitRun(request, 20'000'000));
      if (again >= 180) times.push_back(static_cast<double>(nowNanos() - begin) * 1e-3);
      if (!isChecked) continue;
      const Wrong wrong;
      checkSum(out.data(), kCount, seat.ranks, k, wrong.at(), seat.stream);
      found += wrong.read(seat.stream);
    }
    seat.meet();
  }
  for (uint32_t r = 0; r < seat.ranks; ++r) {
    if (r != seat.rank) runKept(r);
  }
  seat.wait();
  say(seat, "busy churn", "the same, 200 runs in each, beside one under way; value: microseconds of the last ones",
      found, median(times));
  if (found != 0) throw SeatError("wrong sums after buffers were made anew");
  for (uint32_t r = 0; r < seat.ranks; ++r) {
    DFCCL_EXPECT(dfcclUnregister(kFirstKept + static_cast<int>(r), seat.context));
  }
  DFCCL_EXPECT(dfcclGroupDestroy(group));
  seat.meet();
}

/// Memory that other processes can't map: it goes through what they have mapped.
void checkPool(Seat& seat) {
  constexpr uint64_t kCount = 1'000'000;
  constexpr uint32_t kPlace = 7;  // in the pattern
  registerSum(seat, kCount, 400);
  float* pooled = nullptr;
  DFCCL_CUDA(cudaMallocAsync(reinterpret_cast<void**>(&pooled), kCount * sizeof(float), seat.stream));
  fill(pooled, kCount, seat.rank, kPlace, seat.stream);
  const Wrong wrong;
  DFCCL_CUDA(cudaStreamSynchronize(seat.stream));
  DFCCL_EXPECT(dfcclRun(pooled, pooled, 400, nullptr, nullptr, seat.context));
  seat.wait();
  checkSum(pooled, kCount, seat.ranks, kPlace, wrong.at(), seat.stream);
  const unsigned found = wrong.read(seat.stream);
  say(seat, "pool", "a sum in place, in memory of a pool", found);
  if (found != 0) throw SeatError("wrong sums in memory of a pool");
  DFCCL_CUDA(cudaFreeAsync(pooled, seat.stream));
  DFCCL_CUDA(cudaStreamSynchronize(seat.stream));
  DFCCL_EXPECT(dfcclUnregister(400, seat.context));
  seat.meet();
}

}  // namespace

void checkRank(Seat& seat) {
  checkSums(seat);
  checkGathers(seat);
  checkPool(seat);
  checkBusyChurn(seat);
  checkChurn(seat);
}

}  // namespace dfccl::gpu::bench

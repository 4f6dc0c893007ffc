// Ranks as threads of one process, and as processes: the same checks and the same times, so that they can be compared.
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "bench/all_reduces.hpp"
#include "bench/pattern.cuh"
#include "bench/seats.hpp"
#include "bench/timing.hpp"

namespace dfccl::gpu::bench {
namespace {

const char* kindOf(const Seat& seat) { return seat.isProcess ? "processes" : "threads"; }

/// Floats on the seat's device: the user's own, or the library's, of which it needn't ask at every run whether they are
/// still the same.
class Floats {
 public:
  explicit Floats(uint64_t count, dfcclRankCtx_t allocator = nullptr) : count_(count), allocator_(allocator) {
    const size_t bytes = count * sizeof(float);
    if (allocator_ == nullptr) {
      DFCCL_CUDA(cudaMalloc(reinterpret_cast<void**>(&data_), bytes));
    } else {
      DFCCL_EXPECT(dfcclAllocate(bytes, reinterpret_cast<void**>(&data_), allocator_));
    }
  }
  ~Floats() {
    if (allocator_ == nullptr) {
      cudaFree(data_);
    } else {
      dfcclFree(data_, count_ * sizeof(float), allocator_);
    }
  }
  Floats(const Floats&) = delete;
  Floats& operator=(const Floats&) = delete;
  float* data() const { return data_; }
  uint64_t count() const { return count_; }

 private:
  uint64_t count_;
  dfcclRankCtx_t allocator_;
  float* data_ = nullptr;
};

/// Counts wrong elements on the seat's device.
class Wrong {
 public:
  Wrong() {
    DFCCL_CUDA(cudaMalloc(reinterpret_cast<void**>(&count_), sizeof(unsigned)));
    DFCCL_CUDA(cudaMemset(count_, 0, sizeof(unsigned)));
  }
  ~Wrong() { cudaFree(count_); }
  unsigned* at() const { return count_; }
  unsigned read(cudaStream_t stream) const {
    unsigned value = 0;
    DFCCL_CUDA(cudaMemcpyAsync(&value, count_, sizeof value, cudaMemcpyDeviceToHost, stream));
    DFCCL_CUDA(cudaStreamSynchronize(stream));
    return value;
  }

 private:
  unsigned* count_ = nullptr;
};

void registerSum(const Seat& seat, uint64_t count, int id) {
  DFCCL_EXPECT(dfcclRegisterAllReduce(count, dfcclFloat32, dfcclSum, id, dfcclAllRanks(), 0, seat.context));
}

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

/// Memory that other processes can't map.
void checkPool(Seat& seat) {
  if (!seat.isProcess) return;
  constexpr uint64_t kCount = 1'000'000;
  registerSum(seat, kCount, 400);
  void* pooled = nullptr;
  DFCCL_CUDA(cudaMallocAsync(&pooled, kCount * 4, seat.stream));
  DFCCL_CUDA(cudaStreamSynchronize(seat.stream));
  const dfcclResult_t result = dfcclRun(pooled, pooled, 400, nullptr, nullptr, seat.context);
  std::printf("{\"check\":\"pool\",\"rank\":%u,\"result\":%d,\"says\":\"%s\"}\n", seat.rank, static_cast<int>(result),
              result == dfcclSuccess ? "" : dfcclGetLastError());
  std::fflush(stdout);
  if (result == dfcclSuccess) throw SeatError("a pool's memory was accepted");
  DFCCL_CUDA(cudaFreeAsync(pooled, seat.stream));
  DFCCL_CUDA(cudaStreamSynchronize(seat.stream));
  DFCCL_EXPECT(dfcclUnregister(400, seat.context));
  seat.meet();
}

/// A model's gradients, each rank in an order of its own, several iterations, with device synchronizations in between.
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

/// Times of `outstanding` all-reduces of one size at a time, each of an id of its own.
/// @param isAllocated in memory of the library's.
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

/// Word 0 of the barrier counts runs of rank 1, so that whoever strikes it knows that it is at it.
void workUntilStruck(Seat& seat, bool isLarge) {
  const uint64_t count = isLarge ? 4'000'000 : 1000;
  const Floats in(count), out(count);
  fill(in.data(), count, seat.rank, 0, seat.stream);
  DFCCL_CUDA(cudaStreamSynchronize(seat.stream));
  registerSum(seat, count, 1);
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
    DFCCL_EXPECT(dfcclGetLostRanks(lost, 8, &lostCount, seat.context));
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

int worst(const std::vector<int>& ends) {
  for (const int end : ends) {
    if (end != 0) return end == 124 ? 3 : 1;
  }
  return 0;
}

}  // namespace

/// --as processes|threads, --task checks|orders|times|kill|stop, --ranks, --grid, --list, --iterations, --most-mb,
/// --memory cuda|dfccl
int runRanks(const Arguments& arguments) {
  SeatOptions options;
  options.ranks = static_cast<uint32_t>(arguments.number("--ranks", 2));
  options.grid = static_cast<uint32_t>(arguments.number("--grid", 33));
  options.areProcesses = arguments.text("--as", "processes") == "processes";
  const std::string task = arguments.text("--task", "checks");
  if (task == "checks") {
    return worst(onSeats(options, [](Seat& seat) {
      checkSums(seat);
      checkGathers(seat);
      checkPool(seat);
      checkChurn(seat);
    }));
  }
  if (task == "orders") {
    const std::string list = arguments.text("--list", "resnet50");
    const uint64_t iterations = arguments.number("--iterations", 20);
    return worst(onSeats(options, [&](Seat& seat) { checkOrders(seat, list, iterations); }));
  }
  if (task == "times") {
    const uint64_t most = arguments.number("--most-mb", 256) << 20;
    const bool isAllocated = arguments.text("--memory", "cuda") == "dfccl";
    return worst(onSeats(options, [&](Seat& seat) {
      for (uint64_t bytes = 8; bytes <= most; bytes *= bytes < 4096 ? 512 : 4) timeSums(seat, bytes, 1, isAllocated);
      for (const uint64_t bytes : {8ul, 4096ul, 65536ul, 262144ul, 1048576ul}) timeSums(seat, bytes, 16, isAllocated);
    }));
  }
  const bool kills = task == "kill";
  if (!kills && task != "stop") return 2;
  const bool isLarge = arguments.number("--large", 0) != 0;
  options.areProcesses = true;
  options.muteMillis = 3000;
  const std::vector<int> ends = onSeats(
      options, [&](Seat& seat) { workUntilStruck(seat, isLarge); },
      [&](SeatBarrier& barrier, const std::vector<int>& processes) {
        const uint64_t begin = nowNanos();
        while (barrier.words[0].load(order::relaxed) < 100 && nowNanos() - begin < 20'000'000'000) usleep(1000);
        kill(processes[1], kills ? SIGKILL : SIGSTOP);
        if (kills) return;
        usleep(8'000'000);
        kill(processes[1], SIGKILL);
      });
  int failures = 0;
  for (uint32_t r = 0; r < ends.size(); ++r) failures += r != 1 && ends[r] != 0;
  return failures == 0 ? 0 : 1;
}

}  // namespace dfccl::gpu::bench

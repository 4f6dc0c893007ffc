#pragma once
// What the machine can do at this moment: virtual machines change under a benchmark, so every run says what it ran on.
#include <atomic>
#include <cstdio>
#include <cstring>
#include <thread>
#include <vector>

#include "measurement.hpp"

namespace dfccl::bench {

/// A line goes to another core and back, in nanoseconds; 0 on a machine with a single core.
inline double coreRoundTripNanos() {
  if (std::thread::hardware_concurrency() < 2) return 0;
  constexpr int kBatches = 25, kPerBatch = 1000;
  alignas(64) std::atomic<long> line{0};
  std::thread other([&] {
    for (long i = 0; i < long{kBatches} * kPerBatch; ++i) {
      while (line.load(std::memory_order_acquire) != 2 * i + 1) {
      }
      line.store(2 * i + 2, std::memory_order_release);
    }
  });
  std::vector<double> batches;
  long i = 0;
  for (int b = 0; b < kBatches; ++b) {
    const double begin = nowMicros();
    for (int k = 0; k < kPerBatch; ++k, ++i) {
      line.store(2 * i + 1, std::memory_order_release);
      while (line.load(std::memory_order_acquire) != 2 * i + 2) {
      }
    }
    batches.push_back((nowMicros() - begin) * 1000 / kPerBatch);
  }
  other.join();
  return summarize(std::move(batches), 0).medianMicros;
}

/// One core copies memory that no cache holds; bytes read and written, GB/s.
inline double copyGigabytesPerSecond() {
  constexpr size_t kBytes = size_t{64} << 20;
  const std::vector<char> from(kBytes, 1);
  std::vector<char> to(kBytes, 2);
  std::vector<double> rounds;
  for (int i = 0; i < 7; ++i) {
    const double begin = nowMicros();
    std::memcpy(to.data(), from.data(), kBytes);
    asm volatile("" ::"r"(to.data()) : "memory");
    rounds.push_back(nowMicros() - begin);
  }
  return 2.0 * kBytes / summarize(std::move(rounds), 0).medianMicros / 1000;
}

inline void printMachineProbe() {
  std::printf("{\"probe\":true,\"cores\":%u,\"coreRoundTripNs\":%.0f,\"copyGBs\":%.1f}\n",
              std::thread::hardware_concurrency(), coreRoundTripNanos(), copyGigabytesPerSecond());
  std::fflush(stdout);
}

}  // namespace dfccl::bench

#pragma once
// For tests of a queue with several threads on each end that may have several, small capacities and counters about to
// wrap. Meant for ThreadSanitizer; DFCCL_STRESS=N makes them N times as long.
#include <algorithm>
#include <cstdlib>
#include <functional>
#include <thread>
#include <vector>

#include "base/sqe.hpp"

namespace dfccl::test {

inline constexpr uint64_t kFirst = (1ull << 32) - 50;

inline uint64_t scaled(uint64_t n) {
  const char* factor = std::getenv("DFCCL_STRESS");
  return n * (factor != nullptr ? std::max(1ull, std::strtoull(factor, nullptr, 10)) : 1);
}

inline void giveWay() { std::this_thread::yield(); }

/// Runs body(0) ... body(count - 1) at the same time. Threads count errors; doctest is asked on this thread only.
inline void together(unsigned count, const std::function<void(unsigned)>& body) {
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < count; ++i) threads.emplace_back(body, i);
  for (auto& thread : threads) thread.join();
}

inline Sqe entryOf(uint64_t producer, uint64_t i) {
  return {.id = static_cast<uint32_t>(producer),
          .flags = 0,
          .run = i,
          .completionSlot = static_cast<uint32_t>(i),
          .sendAddress = i * 3,
          .recvAddress = i * 5 + producer};
}

inline bool isEntry(const Sqe& sqe, uint64_t producer, uint64_t i) {
  return sqe.id == producer && sqe.run == i && sqe.completionSlot == static_cast<uint32_t>(i) &&
         sqe.sendAddress == i * 3 && sqe.recvAddress == i * 5 + producer;
}

}  // namespace dfccl::test

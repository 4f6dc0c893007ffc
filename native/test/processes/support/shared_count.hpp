#pragma once
#include <chrono>
#include <cstdint>

#include "base/atomics.hpp"
#include "os/futex.hpp"

namespace dfccl::test {

/// A number in memory that several processes share: one adds to it, others sleep until it is large enough.
struct SharedCount {
  Atomic<uint32_t> word;

  uint32_t read() const { return word.load(order::acquire); }
  void add(uint32_t n) {
    word.fetchAdd(n, order::acqRel);
    sharedFutexWakeAll(&word.value);
  }
  /// @return false when the limit is over: whoever should have added is stuck or gone.
  bool await(uint32_t atLeast, std::chrono::seconds limit = std::chrono::seconds(120)) {
    const auto deadline = std::chrono::steady_clock::now() + limit;
    for (uint32_t seen = read(); seen < atLeast; seen = read()) {
      const auto left = deadline - std::chrono::steady_clock::now();
      if (left.count() <= 0) return false;
      const auto micros = std::chrono::duration_cast<std::chrono::microseconds>(left).count();
      sharedFutexWait(&word.value, seen, static_cast<uint64_t>(micros) + 1);
    }
    return true;
  }
};

}  // namespace dfccl::test

#pragma once
// Memory that was asked about once, so that a buffer which walks through an allocation isn't asked about at every run.
#include <algorithm>
#include <cstdint>

#include "dfccl/atomics.hpp"

namespace dfccl {

/// Whole addresses first … first + bytes - 1; bytes 0: nothing is known.
struct MemoryRange {
  uint64_t first = 0;
  uint64_t bytes = 0;
};

/// An allocation, in one word: whoever looks while another thread remembers another one sees either, whole.
///   [ first / 512: 38 bits | whole 512 bytes from there on: 26 bits ]
class KnownMemory {
 public:
  bool holds(uint64_t address, uint64_t bytes) const {
    const uint64_t known = word_.load(order::relaxed);
    const uint64_t size = (known & kMostUnits) * kUnit;
    const uint64_t offset = address - (known >> kSizeBits) * kUnit;  // wraps where it lies before
    return offset <= size && bytes <= size - offset;
  }

  void remember(const MemoryRange& range) {
    const uint64_t first = (range.first + kUnit - 1) / kUnit;
    const uint64_t end = (range.first + range.bytes) / kUnit;
    const uint64_t units = end > first ? std::min(end - first, kMostUnits) : 0;
    word_.store(first << kSizeBits | units, order::relaxed);
  }

 private:
  static constexpr uint64_t kUnit = 512;  // to which cudaMalloc aligns; less at either end isn't remembered
  static constexpr uint64_t kSizeBits = 26;
  static constexpr uint64_t kMostUnits = (uint64_t{1} << kSizeBits) - 1;
  Atomic<uint64_t> word_;
};

}  // namespace dfccl

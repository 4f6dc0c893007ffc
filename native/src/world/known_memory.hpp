#pragma once
// Memory that was asked about once, so that a buffer which walks through an allocation isn't asked about at every run.
//
// Nobody tells when a user frees an allocation, and another may then have its addresses. Where that is as the first
// was, on the rank's GPU and as long as a run needs, what is known of the first is true of it. Where it isn't, a run is
// let through that would have been refused: passing such memory is the caller's mistake, which is told best where it
// can be. To notice it would take a call of the driver's for each buffer of every run. What other processes know of
// memory is not looked up here: they see by the allocation's identity, at every run, that it is new.
#include <algorithm>
#include <cstdint>

#include "base/atomics.hpp"
#include "world/run_check.hpp"

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
    const bool fits = first <= kMostFirst;  // else a lower address would be taken for it
    const uint64_t units = fits && end > first ? std::min(end - first, kMostUnits) : 0;
    word_.store(first << kSizeBits | units, order::relaxed);
  }

 private:
  static constexpr uint64_t kUnit = 512;  // to which cudaMalloc aligns; less at either end isn't remembered
  static constexpr uint64_t kSizeBits = 26;
  static constexpr uint64_t kMostUnits = (uint64_t{1} << kSizeBits) - 1;
  static constexpr uint64_t kMostFirst = ~uint64_t{0} >> kSizeBits;
  Atomic<uint64_t> word_;
};

/// The allocations that a collective's runs have used last, so that a training loop asks once.
struct KnownBuffers {
  KnownMemory send, recv;

  /// Whether a run's buffers need no asking.
  bool hold(const RunShape& shape, const void* sendBuffer, const void* recvBuffer) const {
    return isKnown(send, sendBuffer, shape.sendBytes, shape) && isKnown(recv, recvBuffer, shape.recvBytes, shape);
  }

 private:
  static bool isKnown(const KnownMemory& known, const void* buffer, uint64_t bytes, const RunShape& shape) {
    const auto address = reinterpret_cast<uint64_t>(buffer);
    return bytes == 0 || (address % shape.elementBytes == 0 && known.holds(address, bytes));
  }
};

}  // namespace dfccl

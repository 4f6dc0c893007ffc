#pragma once
// When a buffer was last written, in bytes moved since: so whether its lines are in a cache still when a collective is
// about to write it again. If they are not, storing around the caches spares reading them first, a third of the time;
// if they are, it costs 2.5 times. (Timing both kinds is no guide: docs/decisions/0022.)
#include <array>
#include <cstddef>
#include <cstdint>

#include "base/atomics.hpp"
#include "base/reduce_copy.hpp"
#include "cache_size.hpp"

namespace dfccl {

/// The buffers that were written last, by all threads. What two of them do to one place at once costs time only.
class RecentBuffers {
 public:
  static RecentBuffers& ofThisProcess() {
    static RecentBuffers all;
    return all;
  }

  /// Writes it down, and that `bytes` are moved with it. @return whether it is likely to be in a cache.
  bool note(uint64_t address, uint64_t bytes) {
    const auto units = static_cast<uint32_t>((bytes + kUnit - 1) / kUnit);
    // What another thread adds meanwhile may be lost: it is a clock that need not be exact.
    const uint32_t now = moved_.load(order::relaxed) + units;
    moved_.store(now, order::relaxed);
    const uint64_t spread = (address >> kLineShift) * 0x9e3779b97f4a7c15;
    Atomic<uint64_t>& place = places_[spread >> (64 - kPlaceBits)];
    const auto name = static_cast<uint32_t>(spread);
    const uint64_t last = place.load(order::relaxed);
    place.store(uint64_t{name} << 32 | now, order::relaxed);
    return last != 0 && last >> 32 == name &&
           uint64_t{now - static_cast<uint32_t>(last)} * kUnit <= reduce_copy::expectedCacheBytes();
  }

 private:
  static constexpr uint64_t kUnit = 4096;
  static constexpr int kLineShift = 6, kPlaceBits = 12;

  Atomic<uint32_t> moved_{1};                                       // units; wraps
  std::array<Atomic<uint64_t>, size_t{1} << kPlaceBits> places_{};  // name and time; 0: nothing yet
};

/// How the results of a collective are stored on a rank.
class ResultStores {
 public:
  // What costs as much as the looks here isn't worth them.
  static constexpr size_t kLeastBytes = 1024;  // of an operand

  /// Runs that have begun to move what is in no cache, and enough of it: a thread that keeps out of another's way may
  /// look whether it finds a share. Of all collectives of this process.
  static Atomic<uint32_t>& slowRuns() {
    static Atomic<uint32_t> runs{0};
    return runs;
  }

  /// In run `run`, the same for each of its slices. @param workingSetBytes of all members together.
  Stores of(uint64_t run, uint64_t recvAddress, uint64_t workingSetBytes) {
    const auto number = static_cast<uint32_t>(run) + 1;
    if (decidedFor_.load(order::relaxed) != number) {
      decidedFor_.store(number, order::relaxed);
      const bool isCold = !RecentBuffers::ofThisProcess().note(recvAddress, workingSetBytes);
      isAround_.store(isCold ? 1 : 0, order::relaxed);
      if (isCold && workingSetBytes >= kWorthSharing) slowRuns().fetchAdd(1, order::relaxed);
    }
    return isAround_.load(order::relaxed) != 0 ? Stores::around : Stores::cached;
  }

 private:
  static constexpr uint64_t kWorthSharing = 96 << 10;

  Atomic<uint32_t> decidedFor_{0};  // number of the run, from 1
  Atomic<uint32_t> isAround_{0};
};

}  // namespace dfccl

#pragma once
// Where this device sees windows of other processes, as kernels of a rank have found it before. The tables that say so
// lie in the host's memory, where each look takes a microsecond, and those of several blocks at one window go one
// behind the other: 65 us of an all-reduce of 1 MB that 32 blocks carry out (decision 49).
#include <cstdint>

#include "base/atomics.hpp"
#include "daemon/state/windows.hpp"

namespace dfccl::gpu {

/// A place for one window. Whoever reads half of what another block writes takes it for nothing: the second word is
/// made of the first one and of which window it is.
struct alignas(16) KnownWindow {
  Atomic<uint64_t, Scope::device> base, check;
};

/// A rank's, of all other processes' windows: the last one of those that share a place. In the device's memory; begins
/// as zeros.
struct KnownWindows {
  static constexpr uint32_t kPlaces = 2048;

  KnownWindow places[kPlaces];

  /// @param renewals of the names of whoever has named it, see OwnWindows::renewals(). @param table that one's
  /// @return as windows::baseSeen()
  DFCCL_HD uint64_t baseSeen(windows::Table table, uint64_t name, uint64_t renewals) {
    const uint64_t window = name >> windows::kPageShift;
    const uint64_t which = mixed(reinterpret_cast<uint64_t>(table) + mixed(renewals << 16 | window));
    KnownWindow& place = places[(window + mixed(reinterpret_cast<uint64_t>(table))) % kPlaces];
    const uint64_t known = place.base.load(order::relaxed), check = place.check.load(order::relaxed);
    if (known != 0 && (known ^ check) == which) return known;
    const uint64_t base = windows::baseSeen(table, name);
    if (base != 0) {
      place.base.store(base, order::relaxed);
      place.check.store(base ^ which, order::relaxed);
    }
    return base;
  }

 private:
  /// Of two different words never the same one.
  DFCCL_HD static uint64_t mixed(uint64_t word) {
    word = (word ^ word >> 31) * 0x9e3779b97f4a7c15;
    return word ^ word >> 32;
  }
};

}  // namespace dfccl::gpu

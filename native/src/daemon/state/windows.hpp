#pragma once
// How a member names memory of its own that another process sees at another address.
//
// A window is a number that a process has given to 4 GiB of its address space, aligned, or to what an allocation has of
// them; an allocation in several such pieces has as many windows in a row. Another process that has mapped the
// allocation keeps, for each window, where it sees the beginning of those 4 GiB. An allocation that is made anew at the
// same address gets a window that nobody has known, so nothing ever has to be looked up by address, and none of what
// peers remember goes stale.
//
//   published:   [ window: 16 bits | low half of the address: 32 bits ]       window 0: nobody looks at the buffer
#include <cstdint>

#include "base/atomics.hpp"

namespace dfccl::windows {

inline constexpr uint32_t kCount = 1 << 16;
inline constexpr uint32_t kPageShift = 32;
inline constexpr uint64_t kOffsetMask = (uint64_t{1} << kPageShift) - 1;
/// What the table of whoever looks holds for window 0, so that it counts as known.
inline constexpr uint64_t kUnused = 1;
/// The window of a buffer that some other process has not mapped: a run that meets it goes through connectors. The
/// table holds kUnused for it as well.
inline constexpr uint16_t kUnmapped = kCount - 1;

/// Whether a member has published that others can't look at its buffer.
DFCCL_HD constexpr bool isUnmapped(uint64_t name) { return name >> kPageShift == kUnmapped; }

/// Where one process sees the windows of another: [window]; 0: not yet.
using Table = const Atomic<uint64_t>*;

/// An address as the other members are told. Where all see it alike there are no windows, and it stays what it is.
DFCCL_HD constexpr uint64_t named(uint64_t address, uint16_t window) {
  return window == 0 ? address : uint64_t{window} << kPageShift | (address & kOffsetMask);
}

/// Where this process sees the beginning of the window that another has named an address by. @return 0: it hasn't
/// mapped it yet.
DFCCL_HD inline uint64_t baseSeen(Table table, uint64_t name) { return table[name >> kPageShift].load(order::relaxed); }
/// @param base what baseSeen returned for it.
DFCCL_HD constexpr uint64_t seenAt(uint64_t base, uint64_t name) { return base + (name & kOffsetMask); }

/// Where this process sees what another has named. @return 0: it hasn't mapped it yet.
DFCCL_HD inline uint64_t seen(Table table, uint64_t name) {
  const uint64_t base = baseSeen(table, name);
  return base == 0 ? 0 : seenAt(base, name);
}

/// What belongs into the table for the piece of an allocation that begins at or before `address`.
constexpr uint64_t baseOf(uint64_t address, uint64_t seenAt) { return seenAt - (address & kOffsetMask); }

}  // namespace dfccl::windows

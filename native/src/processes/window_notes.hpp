#pragma once
// What a rank tells the others about memory of its own that they may map: in the segment, one ring a rank, which that
// rank writes and all others read, each at its own pace.
#include <cstdint>

#include "base/atomics.hpp"

namespace dfccl {

struct WindowNote {
  enum Kind : uint32_t { opened, closed };
  static constexpr uint32_t kHandleBytes = 64;

  Kind kind;
  uint8_t isOptional;  // no run waits until it is mapped
  uint16_t window;     // the first; the others of the same memory follow it
  uint64_t first;      // addresses of the owner's
  uint64_t bytes;
  uint8_t handle[kHandleBytes];  // by which the driver knows the memory in another process
};

struct WindowNotes {
  static constexpr uint32_t kCapacity = 1024;
  static constexpr uint32_t kMostRanks = 1024;

  alignas(64) Atomic<uint64_t> tail;               // notes so far; the owner's
  alignas(64) Atomic<uint64_t> taken[kMostRanks];  // [rank]: notes that it has read and acted on; that rank's
  // [rank]: of them, those before which nothing that was closed is mapped there any more. Unmapping may have to wait
  // for the device, which is no reason for what is new to wait.
  alignas(64) Atomic<uint64_t> released[kMostRanks];
  WindowNote notes[kCapacity];
  Atomic<uint32_t> isRefused[kCapacity];  // [note]: somebody could not map what was optional
};

}  // namespace dfccl

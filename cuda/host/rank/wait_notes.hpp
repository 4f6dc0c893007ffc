#pragma once
// The notes of a device's retractable waits.
#include <cstdint>
#include <mutex>

#include "base/array.hpp"
#include "device/retractable_wait.cuh"
#include "host/driver/memory.hpp"

namespace dfccl::gpu {

class WaitNotes {
 public:
  /// @throws Error
  WaitNotes();

  /// One that no wait has any more. It is whoever's takes it until WaitNote::isOver. @return nullptr: waits have all.
  WaitNote* take();

 private:
  /// A stream takes 1,024 before it blocks its caller.
  static constexpr uint32_t kMost = 16'384;

  PinnedMemory pinned_;
  Array<WaitNote> notes_;
  std::mutex mutex_;  // never held across a call of CUDA's
  uint32_t next_ = 0;
};

}  // namespace dfccl::gpu

#pragma once
// Host memory that a GPU and threads of this process read and write while programs run, taken from the driver once.
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "host/driver/memory.hpp"

namespace dfccl::gpu {

/// Gives it out in powers of two of at least 128 bytes, zeroed. One thread at a time.
class PinnedArena {
 public:
  explicit PinnedArena(size_t bytes) : memory_(bytes), capacity_(bytes) {}

  /// @throws Error dfcclOutOfMemory naming what is used and what is left.
  uint8_t* allocate(size_t bytes);
  /// @pre `bytes` is what was asked for, and nobody writes there any more.
  void free(uint8_t* block, size_t bytes);
  size_t freeBytes() const { return capacity_ - used_; }

 private:
  PinnedMemory memory_;
  const size_t capacity_;
  size_t top_ = 0;
  size_t used_ = 0;
  std::map<size_t, std::vector<uint8_t*>> idle_;  // [size]: zeroed
};

}  // namespace dfccl::gpu

#pragma once
// The memory that registration takes from: reserved at start, touched only as it is used, and bounded, so that nothing
// is allocated on behalf of a collective while daemons run.
#include <cstddef>
#include <cstdint>
#include <vector>

namespace dfccl {

class Arena {
 public:
  /// Reserves `bytes` of address space. @throws Error dfcclOutOfMemory.
  explicit Arena(size_t bytes);
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  /// @return Zeroed memory, aligned to 128 bytes; blocks come in powers of two.
  /// @throws Error dfcclOutOfMemory naming what is used and what is left.
  uint8_t* allocate(size_t bytes);
  /// Gives a block back. @pre `bytes` is what was asked for.
  void free(uint8_t* block, size_t bytes);

  size_t capacity() const { return capacity_; }
  size_t usedBytes() const { return used_; }

 private:
  static size_t sizeClass(size_t bytes);
  [[noreturn]] void refuse(size_t bytes) const;

  uint8_t* base_;
  size_t capacity_;
  size_t top_ = 0;
  size_t used_ = 0;
  std::vector<uint8_t*> free_[64];
};

}  // namespace dfccl

#pragma once
// The memory of a segment that registrations and buffers take from. Its bookkeeping lies in the segment, so every
// process of the world allocates from it and gives back to it, under the segment's lock.
//
// A process may die at any instruction between taking the lock and giving it back. So nothing that a survivor needs is
// ever half written: `top` only grows, and is stored before anybody may use what lies below it; the lists of free
// blocks are dropped after such a death (recover()), which loses their memory and nothing else.
#include <cstddef>
#include <cstdint>

namespace dfccl {

struct SharedArenaHeader {
  uint8_t* base;
  size_t capacity;
  size_t top;
  size_t used;
  uint8_t* free[64];  // [log2 of the size]: the first free block; its first word is the next one's address
};

/// A view: the header is the segment's.
class SharedArena {
 public:
  explicit SharedArena(SharedArenaHeader& header) : h_(header) {}

  /// @return Zeroed memory, aligned to 128 bytes, and to pages from a page on; blocks come in powers of two. Where none
  /// of that size is free and all has been used once, a larger one is divided; where there is none, neighbours are
  /// joined.
  /// @throws Error dfcclOutOfMemory naming what is used and what is left.
  uint8_t* allocate(size_t bytes);
  /// Gives a block back. @pre `bytes` is what was asked for.
  void free(uint8_t* block, size_t bytes);
  /// After a process died with the lock.
  void recover();

  size_t usedBytes() const { return h_.used; }

 private:
  uint8_t* takeFree(size_t size);
  void putFree(uint8_t* block, size_t size);
  uint8_t* takeFresh(size_t size);
  uint8_t* takeOfLarger(size_t size);
  void joinFree();

  SharedArenaHeader& h_;
};

}  // namespace dfccl

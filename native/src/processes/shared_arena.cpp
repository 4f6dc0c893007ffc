#include "processes/shared_arena.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>

#include "base/error.hpp"

namespace dfccl {
namespace {

constexpr size_t kPage = 4096;
// From here on the system clears a block faster, by taking its pages away.
constexpr size_t kRemoveBytes = 64 << 10;

size_t sizeClass(size_t bytes) { return std::bit_ceil(std::max<size_t>(bytes, 128)); }

}  // namespace

uint8_t* SharedArena::allocate(size_t bytes) {
  const size_t size = sizeClass(bytes);
  uint8_t*& first = h_.free[std::countr_zero(size)];
  if (first != nullptr) {
    uint8_t* block = first;
    std::memcpy(&first, block, sizeof first);
    h_.used += size;
    // A large one was cleared when it was given back, but for its first word.
    std::memset(block, 0, size < kRemoveBytes ? size : sizeof first);
    return block;
  }
  const size_t alignment = std::min(size, kPage);
  const size_t begin = (h_.top + alignment - 1) / alignment * alignment;
  if (begin > h_.capacity || h_.capacity - begin < size) {
    throw Error(dfcclOutOfMemory,
                "The arena that the processes share is full: " + std::to_string(size) + " bytes asked for, " +
                    std::to_string(h_.used) + " of " + std::to_string(h_.capacity) + " in use.",
                "Unregister collectives and drop buffers that are done, or join with a larger arenaBytes.",
                {{"bytes", std::to_string(size)},
                 {"used", std::to_string(h_.used)},
                 {"capacity", std::to_string(h_.capacity)}});
  }
  h_.top = begin + size;
  h_.used += size;
  return h_.base + begin;
}

void SharedArena::free(uint8_t* block, size_t bytes) {
  if (block == nullptr) return;
  const size_t size = sizeClass(bytes);
  if (size >= kRemoveBytes && madvise(block, size, MADV_REMOVE) != 0) std::memset(block, 0, size);
  uint8_t*& first = h_.free[std::countr_zero(size)];
  std::memcpy(block, &first, sizeof first);
  first = block;
  h_.used -= size;
}

void SharedArena::recover() {
  for (uint8_t*& list : h_.free) list = nullptr;
}

}  // namespace dfccl

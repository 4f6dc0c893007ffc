#include "processes/shared_arena.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>
#include <vector>

#include "base/error.hpp"

namespace dfccl {
namespace {

constexpr size_t kPage = 4096;
// From here on the system clears a block faster, by taking its pages away.
constexpr size_t kRemoveBytes = 64 << 10;

size_t sizeClass(size_t bytes) { return std::bit_ceil(std::max<size_t>(bytes, 128)); }

size_t roundUp(size_t offset, size_t alignment) { return (offset + alignment - 1) / alignment * alignment; }

/// What is still to be cleared of a free block. A large one was when it was given back, but for its first word.
void clearFree(uint8_t* block, size_t size) { std::memset(block, 0, size < kRemoveBytes ? size : sizeof block); }

}  // namespace

uint8_t* SharedArena::allocate(size_t bytes) {
  const size_t size = sizeClass(bytes);
  uint8_t* block = takeFree(size);
  if (block == nullptr) {
    if (uint8_t* const fresh = takeFresh(size)) return fresh;
    block = takeOfLarger(size);
  }
  if (block == nullptr) {
    joinFree();
    block = takeOfLarger(size);
  }
  if (block == nullptr) {
    throw Error(dfcclOutOfMemory,
                "The arena that the processes share is full: " + std::to_string(size) + " bytes asked for, " +
                    std::to_string(h_.used) + " of " + std::to_string(h_.capacity) + " in use.",
                "Unregister collectives and drop buffers that are done, or join with a larger arenaBytes.",
                {{"bytes", std::to_string(size)},
                 {"used", std::to_string(h_.used)},
                 {"capacity", std::to_string(h_.capacity)}});
  }
  h_.used += size;
  clearFree(block, size);
  return block;
}

uint8_t* SharedArena::takeFree(size_t size) {
  uint8_t*& first = h_.free[std::countr_zero(size)];
  uint8_t* const block = first;
  if (block != nullptr) std::memcpy(&first, block, sizeof first);
  return block;
}

void SharedArena::putFree(uint8_t* block, size_t size) {
  uint8_t*& first = h_.free[std::countr_zero(size)];
  std::memcpy(block, &first, sizeof first);
  first = block;
}

/// From where nothing has ever been. @return zeroed
uint8_t* SharedArena::takeFresh(size_t size) {
  const size_t begin = roundUp(h_.top, std::min(size, kPage));
  if (begin > h_.capacity || h_.capacity - begin < size) return nullptr;
  h_.top = begin + size;
  h_.used += size;
  return h_.base + begin;
}

/// The first part of the smallest free block that is large enough; its other parts are free blocks then.
uint8_t* SharedArena::takeOfLarger(size_t size) {
  for (size_t larger = size; larger != 0; larger *= 2) {
    uint8_t* const block = takeFree(larger);
    if (block == nullptr) continue;
    while (larger != size) {
      larger /= 2;
      putFree(block + larger, larger);
    }
    return block;
  }
  return nullptr;
}

/// Free blocks of whole pages that lie beside one another, and what has never been used, become blocks that are as
/// large as can be. Seldom: only when there is no room otherwise.
void SharedArena::joinFree() {
  struct Run {
    uint8_t* begin;
    size_t bytes;
  };
  std::vector<Run> runs;
  for (size_t size = kPage; size != 0; size *= 2) {
    for (uint8_t* block = h_.free[std::countr_zero(size)]; block != nullptr; std::memcpy(&block, block, sizeof block)) {
      runs.push_back({block, size});
    }
  }
  const size_t fresh = roundUp(h_.top, kPage), end = h_.capacity / kPage * kPage;
  if (fresh < end) runs.push_back({h_.base + fresh, end - fresh});
  std::sort(runs.begin(), runs.end(), [](const Run& a, const Run& b) { return a.begin < b.begin; });

  h_.top = std::max(h_.top, end);
  for (size_t size = kPage; size != 0; size *= 2) h_.free[std::countr_zero(size)] = nullptr;
  for (size_t i = 0; i < runs.size();) {
    uint8_t* const begin = runs[i].begin;
    uint8_t* next = begin;
    for (; i < runs.size() && runs[i].begin == next; ++i) {
      clearFree(next, runs[i].bytes);
      next += runs[i].bytes;
    }
    for (uint8_t* block = begin; block != next;) {
      const size_t size = std::bit_floor(static_cast<size_t>(next - block));
      putFree(block, size);
      block += size;
    }
  }
}

void SharedArena::free(uint8_t* block, size_t bytes) {
  if (block == nullptr) return;
  const size_t size = sizeClass(bytes);
  if (size >= kRemoveBytes && madvise(block, size, MADV_REMOVE) != 0) std::memset(block, 0, size);
  putFree(block, size);
  h_.used -= size;
}

void SharedArena::recover() {
  for (uint8_t*& list : h_.free) list = nullptr;
}

}  // namespace dfccl

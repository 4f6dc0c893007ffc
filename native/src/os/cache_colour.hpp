#pragma once
// Where in its first page a table begins that has pages of its own. If all began with the page, the first items of all
// tables of all ranks would compete for the same few lines of the first-level cache, in which a line's place depends on
// its address within the page: cache colouring, as slab allocators have it (Bonwick, "The Slab Allocator", section 4).
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace dfccl {

/// Bytes, a multiple of a cache line's 64, less than kMostCacheColour; another one each time. Any thread.
inline size_t nextCacheColour() {
  constexpr uint32_t kLinesEach = 4, kLinesOfPage = 64;
  static constinit std::atomic<uint32_t> tables{0};
  return (tables.fetch_add(1, std::memory_order_relaxed) * kLinesEach % kLinesOfPage) * size_t{64};
}
inline constexpr size_t kMostCacheColour = 4096;

}  // namespace dfccl

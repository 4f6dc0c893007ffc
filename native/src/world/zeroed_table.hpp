#pragma once
// A table of fixed length whose bytes begin as zeros, and of which only what is used takes memory: the system's pages
// are zero as they come, and nothing here writes to them. Worlds of many ranks use little of what their limits allow.
#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include "os/cache_colour.hpp"

namespace dfccl {

template <class T>
class ZeroedTable {
 public:
  // Zero bytes are a T as its constructor would make it, and there is nothing to destroy.
  static_assert(std::is_trivially_destructible_v<T>);

  /// @throws std::bad_alloc
  explicit ZeroedTable(size_t count) : memory_(allocate(count * sizeof(T) + alignof(T))), count_(count) {
    const auto begin = reinterpret_cast<uintptr_t>(memory_.get()) + memory_.get_deleter().colour;
    items_ = reinterpret_cast<T*>((begin + alignof(T) - 1) / alignof(T) * alignof(T));
  }

  /// More of them, the former ones first. @throws std::bad_alloc
  void grow(size_t count) {
    static_assert(std::is_trivially_copyable_v<T>);
    ZeroedTable larger(count);
    std::memcpy(larger.items_, items_, count_ * sizeof(T));
    *this = std::move(larger);
  }

  T& operator[](size_t index) { return items_[index]; }
  const T& operator[](size_t index) const { return items_[index]; }
  T* data() { return items_; }
  size_t size() const { return count_; }

 private:
  // calloc() of memory that was used before clears all of it, and a program that frees large blocks makes it take
  // larger and larger ones from such memory: Node does. Below a few pages there is nothing to gain.
  static constexpr size_t kLeastOwnPages = 16384;
#if defined(__SANITIZE_ADDRESS__)
  static constexpr bool kHasOwnPages = false;  // there, what lies beyond a table must be seen
#else
  static constexpr bool kHasOwnPages = true;
#endif

  struct Free {
    size_t mapped = 0;  // bytes; 0: of calloc()
    size_t colour = 0;  // bytes that the table leaves free before it
    void operator()(void* memory) const {
      if (mapped == 0) {
        std::free(memory);
      } else {
        munmap(memory, mapped);
      }
    }
  };
  using Memory = std::unique_ptr<void, Free>;

  static Memory allocate(size_t bytes) {
    if (!kHasOwnPages || bytes < kLeastOwnPages) {
      Memory memory(std::calloc(1, bytes));
      if (memory == nullptr) throw std::bad_alloc();
      return memory;
    }
    bytes += kMostCacheColour;
    void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    return Memory(memory, {bytes, nextCacheColour()});
  }

  Memory memory_;
  T* items_;
  size_t count_;
};

}  // namespace dfccl

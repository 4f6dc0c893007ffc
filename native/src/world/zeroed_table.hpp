#pragma once
// A table of fixed length whose bytes begin as zeros, and of which only what is used takes memory: the system's pages
// are zero as they come, and nothing here writes to them. Worlds of many ranks use little of what their limits allow.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace dfccl {

template <class T>
class ZeroedTable {
 public:
  // Zero bytes are a T as its constructor would make it, and there is nothing to destroy.
  static_assert(std::is_trivially_destructible_v<T>);

  /// @throws std::bad_alloc
  explicit ZeroedTable(size_t count) : memory_(std::calloc(1, count * sizeof(T) + alignof(T))), count_(count) {
    if (memory_ == nullptr) throw std::bad_alloc();
    const auto begin = reinterpret_cast<uintptr_t>(memory_.get());
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
  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };
  std::unique_ptr<void, Free> memory_;
  T* items_;
  size_t count_;
};

}  // namespace dfccl

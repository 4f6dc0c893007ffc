#pragma once
// Handles of the C API: {generation, place + 1} in the bits of a pointer, so that one which was destroyed, or never
// made, is recognised instead of followed. Each table has places of its own, so a handle of another kind is too.
#include <cstdint>
#include <memory>
#include <mutex>

#include "base/atomics.hpp"
#include "base/error.hpp"

namespace dfccl::c_api {

template <class T, uint32_t kCapacity, uint32_t kFirstPlace>
class HandleTable {
  static_assert(kFirstPlace + kCapacity < 0xffff);

 public:
  /// @throws Error dfcclOutOfMemory if `kCapacity` are open.
  void* insert(std::unique_ptr<T> object) {
    const std::lock_guard lock(mutex_);
    for (uint32_t i = 0; i < kCapacity; ++i) {
      const uint32_t place = (next_ + i) % kCapacity;
      Entry& entry = entries_[place];
      if (entry.object != nullptr) continue;
      next_ = place + 1;
      entry.object = object.release();
      const uint64_t handle = (++generations_ << kPlaceBits) | (kFirstPlace + place + 1);
      entry.handle.store(handle, order::release);
      return reinterpret_cast<void*>(handle);
    }
    throw Error(dfcclOutOfMemory, std::to_string(kCapacity) + " handles are open.",
                "Destroy those that are done with.");
  }

  /// @return nullptr: not a handle, or not any more.
  T* find(const void* handle) const {
    const auto bits = reinterpret_cast<uint64_t>(handle);
    const uint64_t place = placeOf(bits);
    if (place >= kCapacity || entries_[place].handle.load(order::acquire) != bits) return nullptr;
    return entries_[place].object;
  }

  /// @pre find() gave the object, and nobody else uses it.
  std::unique_ptr<T> remove(const void* handle) {
    const std::lock_guard lock(mutex_);
    Entry& entry = entries_[placeOf(reinterpret_cast<uint64_t>(handle))];
    entry.handle.store(0, order::release);
    std::unique_ptr<T> object(entry.object);
    entry.object = nullptr;
    return object;
  }

 private:
  static constexpr int kPlaceBits = 16;
  static constexpr uint64_t kPlaceMask = 0xffff;

  /// Beyond the capacity for all that is no handle of this table.
  static uint64_t placeOf(uint64_t handle) { return (handle & kPlaceMask) - kFirstPlace - 1; }

  struct Entry {
    Atomic<uint64_t> handle;
    T* object = nullptr;
  };

  std::mutex mutex_;
  uint32_t next_ = 0;  // a place rests for as long as possible
  uint64_t generations_ = 0;
  Entry entries_[kCapacity];
};

}  // namespace dfccl::c_api

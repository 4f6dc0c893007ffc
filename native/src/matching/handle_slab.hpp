#pragma once
// Objects that callers know by handles: {kind, generation, place + 1}, so that one which was given back, or is another
// kind of thing, is recognised. Any number of them, found without a lock, and never freed before the slab is: whoever
// looks at one that has just been given back sees only that.
#include <cstdint>
#include <mutex>
#include <string>

#include "base/atomics.hpp"
#include "base/error.hpp"

namespace dfccl {

/// What an object in a slab begins with.
template <class T>
struct InSlab {
  uint32_t place = 0;
  Atomic<uint64_t> handle;
  T* nextFree = nullptr;
};

/// @tparam T derives from InSlab<T>.
template <class T>
class HandleSlab {
 public:
  /// @param kind another one for each slab: the handles' top two bits.
  HandleSlab(uint32_t kind, const char* remedy) : kind_(uint64_t{kind} << 62), remedy_(remedy) {}
  ~HandleSlab() {
    for (uint32_t c = 0; c < chunkCount_; ++c) delete[] chunks_[c].load(order::relaxed);
  }

  /// One that nobody uses, as it was when it was given back. Its handle is valid once publish() is called.
  /// @throws Error dfcclOutOfMemory
  T& take() {
    const std::lock_guard lock(mutex_);
    if (free_ == nullptr) grow();
    T& object = *free_;
    free_ = object.nextFree;
    return object;
  }
  uint64_t publish(T& object) {
    const uint64_t generation = ((object.handle.load(order::relaxed) >> 32) + 1) & kGenerations;
    const uint64_t handle = kind_ | generation << 32 | (object.place + 1);
    object.handle.store(handle, order::release);
    return handle;
  }
  /// From now on the handle is nobody's. @return false: it is already.
  bool endHandle(T& object, uint64_t handle) {
    return object.handle.compareExchange(handle, handle >> 32 << 32, order::acqRel, order::relaxed);
  }
  void giveBack(T& object) {
    object.handle.store((object.handle.load(order::relaxed) >> 32) << 32, order::release);
    const std::lock_guard lock(mutex_);
    object.nextFree = free_;
    free_ = &object;
  }
  /// @return nullptr: not a handle, or not any more.
  T* find(uint64_t handle) const {
    const uint32_t place = static_cast<uint32_t>(handle) - 1;
    if (place / kChunk >= kMostChunks) return nullptr;
    T* const chunk = chunks_[place / kChunk].load(order::acquire);
    if (chunk == nullptr) return nullptr;
    T& object = chunk[place % kChunk];
    return object.handle.load(order::acquire) == handle ? &object : nullptr;
  }

 private:
  static constexpr uint32_t kChunk = 256;
  static constexpr uint32_t kMostChunks = 16384;
  static constexpr uint64_t kGenerations = (uint64_t{1} << 30) - 1;

  void grow() {
    if (chunkCount_ == kMostChunks) {
      throw Error(dfcclOutOfMemory, std::to_string(kMostChunks * kChunk) + " of them are open.", remedy_);
    }
    T* const chunk = new T[kChunk];
    for (uint32_t i = kChunk; i-- != 0;) {
      chunk[i].place = chunkCount_ * kChunk + i;
      chunk[i].nextFree = free_;
      free_ = &chunk[i];
    }
    chunks_[chunkCount_++].store(chunk, order::release);
  }

  const uint64_t kind_;
  const char* const remedy_;
  std::mutex mutex_;
  T* free_ = nullptr;
  uint32_t chunkCount_ = 0;
  Atomic<T*> chunks_[kMostChunks];  // [kChunk] each; only added to
};

}  // namespace dfccl

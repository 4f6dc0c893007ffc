#pragma once
// Memory of a rank's, taken at start: nothing is allocated, freed or pinned while a daemon may run.
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "host/check.hpp"

namespace dfccl::gpu {

/// Zeroed host memory that every device reads and writes at its host address.
class PinnedMemory {
 public:
  explicit PinnedMemory(size_t bytes);
  ~PinnedMemory();
  PinnedMemory(const PinnedMemory&) = delete;
  PinnedMemory& operator=(const PinnedMemory&) = delete;
  /// @return the next part of it, aligned to 128 bytes. @pre there is room.
  uint8_t* take(size_t bytes);

 private:
  uint8_t* base_ = nullptr;
  size_t capacity_;
  size_t used_ = 0;
};

/// A device's memory, given out in powers of two of at least 128 bytes. Blocks come zeroed.
class DeviceArena {
 public:
  DeviceArena(int device, size_t bytes);
  ~DeviceArena();
  DeviceArena(const DeviceArena&) = delete;
  DeviceArena& operator=(const DeviceArena&) = delete;

  /// @throws Error dfcclOutOfMemory naming what is used and what is left.
  uint8_t* allocate(size_t bytes);
  /// @pre `bytes` is what was asked for.
  void free(uint8_t* block, size_t bytes);
  /// Copies from the host while daemons may run, and returns when it is there.
  void write(void* to, const void* from, size_t bytes);
  void read(void* to, const void* from, size_t bytes);
  void clear(void* memory, size_t bytes);
  /// One trivially copyable value of the device's memory, atomics included.
  template <class T>
  T readOne(const T* from) {
    T value{};
    read(&value, from, sizeof value);
    return value;
  }
  template <class T>
  T* put(const T* items, size_t count) {
    T* memory = reinterpret_cast<T*>(allocate(count * sizeof(T)));
    write(memory, items, count * sizeof(T));
    return memory;
  }

  int device() const { return device_; }
  uint8_t* base() const { return base_; }
  size_t capacity() const { return capacity_; }
  size_t usedBytes() const { return used_; }

 private:
  int device_;
  uint8_t* base_ = nullptr;
  size_t capacity_;
  size_t top_ = 0;
  size_t used_ = 0;
  std::map<size_t, std::vector<uint8_t*>> idle_;
  cudaStream_t stream_ = nullptr;
};

/// Blocks of an arena that belong to one owner.
class ArenaBlocks {
 public:
  explicit ArenaBlocks(DeviceArena& arena) : arena_(&arena) {}
  ~ArenaBlocks();
  ArenaBlocks(ArenaBlocks&& other) noexcept;
  ArenaBlocks& operator=(ArenaBlocks&&) = delete;

  template <class T>
  T* put(const T* items, size_t count) {
    T* memory = arena_->put(items, count);
    blocks_.push_back({reinterpret_cast<uint8_t*>(memory), count * sizeof(T)});
    bytes_ += count * sizeof(T);
    return memory;
  }
  size_t bytes() const { return bytes_; }

 private:
  struct Block {
    uint8_t* memory;
    size_t bytes;
  };
  DeviceArena* arena_;
  std::vector<Block> blocks_;
  size_t bytes_ = 0;
};

}  // namespace dfccl::gpu

#pragma once
// Memory of a rank's, taken at start: nothing is allocated, freed or pinned while a daemon may run.
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <vector>

#include "host/driver/check.hpp"

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

class RankRequests;

/// A device's memory, given out in powers of two of at least 128 bytes. Blocks come zeroed: from then on a peer may
/// write to them, which nothing that is still to be done here may undo. Until seal() the host writes to it through
/// CUDA, and from then on through the daemon alone: a call of CUDA's may wait until the device is idle, which waits for
/// what was to be written.
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
  /// It stays as long as the process: a graph may still read and write it.
  void abandon() { isAbandoned_ = true; }
  /// From here on nothing calls CUDA.
  void seal(RankRequests& requests) { requests_ = &requests; }
  /// Copies to the device: at once, or once sealed, before any run that is submitted afterwards. @return what to ask
  /// isStored() for.
  uint64_t store(void* to, const void* from, size_t bytes);
  bool isStored(uint64_t request) const;
  /// Copies through CUDA, and returns when it is there. @throws Error dfcclSystemError: sealed.
  void write(void* to, const void* from, size_t bytes);
  void read(void* to, const void* from, size_t bytes);
  template <class T>
  T* put(const T* items, size_t count) {
    T* memory = reinterpret_cast<T*>(allocate(count * sizeof(T)));
    store(memory, items, count * sizeof(T));
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
  bool isAbandoned_ = false;
  void checkOpen() const;
  void clear(void* memory, size_t bytes);

  struct Idle {
    uint8_t* block;
    uint64_t cleared;  // once this request is done
  };
  std::map<size_t, std::deque<Idle>> idle_;  // in the order in which they were freed
  cudaStream_t stream_ = nullptr;
  RankRequests* requests_ = nullptr;
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

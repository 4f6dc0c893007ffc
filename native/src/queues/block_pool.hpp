#pragma once
// Memory flows from a worker to the trainer; the right to reuse it flows back through one word a block, which lies in
// the worker's pool and which the block's prefix names. So blocks are never returned through a queue, and never through
// malloc, whose worst case is to free what another thread allocated.
//
//   worker's pool            block 1
//   status | 0 | 1 | 0 |     | status number | data ...       |
//                ^_____________|               what the trainer reads
//
// The word alone needs no lock: only the worker sets it, only the trainer clears it. What it stands for needs R1 -> A1.
// The slides' text clears it with 1; that frees nothing.
#include <cstdint>

#include "base/atomics.hpp"

namespace dfccl {

inline constexpr uint32_t kNoBlock = 0xffffffff;

struct BlockPoolOrders {
  static constexpr Order free = order::release;     // R1 -> A1: the trainer's last read comes before the next write
  static constexpr Order acquire = order::acquire;  // A1
};

/// The worker's end: one thread allocates.
template <class Orders = BlockPoolOrders>
class BlockPool {
 public:
  /// @param status blockCount words, 0 = unused, shared with the trainer.
  BlockPool(Atomic<uint32_t>* status, uint32_t blockCount) : status_(status), blockCount_(blockCount) {}

  /// @return Number of a block that is this worker's until it is handed over and freed, or kNoBlock.
  uint32_t tryAcquire() {
    for (uint32_t i = 0; i < blockCount_; ++i) {
      const uint32_t block = next_;
      next_ = next_ + 1 == blockCount_ ? 0 : next_ + 1;
      if (status_[block].load(Orders::acquire) != 0) continue;  // A1
      // Relaxed: the trainer reads no status; it stores 0 after the block was handed to it.
      status_[block].store(1, order::relaxed);
      return block;
    }
    return kNoBlock;
  }

 private:
  Atomic<uint32_t>* status_;
  uint32_t blockCount_;
  uint32_t next_ = 0;
};

/// The trainer's end: frees the block it used last when it takes the next one.
template <class Orders = BlockPoolOrders>
class BlockHolder {
 public:
  /// Takes a block over. @param status The word that its prefix names.
  void hold(Atomic<uint32_t>& status) {
    release();
    held_ = &status;
  }

  /// Frees the block in hand, if any. @pre The trainer reads it no more.
  void release() {
    if (held_ != nullptr) held_->store(0, Orders::free);  // R1
    held_ = nullptr;
  }

 private:
  Atomic<uint32_t>* held_ = nullptr;
};

}  // namespace dfccl

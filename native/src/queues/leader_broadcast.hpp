#pragma once
// One writer, every block reads everything, in the same order. The leader republishes each SQE here, in the device's
// own memory, because only one block of a daemon can afford to poll the host's.
//
//   byte 0        64                      64 + 64 * blockCount
//        | header  | cursor[blockCount]   | T[capacity]
//          leader    one block each, a line apiece
//
// A slot is refilled only after every cursor has passed it; a block that stops blocks the leader, never a neighbour's
// entry. The leader doesn't wait: a full ring is a value.
#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/atomics.hpp"

namespace dfccl {

struct LeaderBroadcastHeader {
  alignas(64) Atomic<uint64_t, Scope::device> tail;  // next position to publish; the leader
  Atomic<uint32_t, Scope::device> capacity;          // entries, a power of two; constant after create()
  Atomic<uint32_t, Scope::device> blockCount;        // constant after create()
};

struct BroadcastCursor {
  alignas(64) Atomic<uint64_t, Scope::device> position;  // next position to read; its block
};
#if !defined(DFCCL_RELACY)
static_assert(sizeof(LeaderBroadcastHeader) == 64 && sizeof(BroadcastCursor) == 64);
static_assert(offsetof(LeaderBroadcastHeader, capacity) == 8 && offsetof(LeaderBroadcastHeader, blockCount) == 12);
#endif

/// Plain handle. T is trivially copyable.
template <class T>
struct LeaderBroadcast {
  LeaderBroadcastHeader* header;
  BroadcastCursor* cursors;
  Plain<T>* entries;
  uint32_t capacity;
  uint32_t blockCount;

  DFCCL_HD Plain<T>& slot(uint64_t position) const { return entries[position & (capacity - 1)]; }

  static constexpr size_t bytes(uint32_t capacity, uint32_t blockCount) {
    return sizeof(LeaderBroadcastHeader) + size_t{blockCount} * sizeof(BroadcastCursor) + capacity * sizeof(Plain<T>);
  }

  /// Makes an empty ring in `memory` (bytes() of it, 64-byte aligned) before anyone else sees it.
  /// @param isZeroed the memory is zero: then entries, most of which may never be used, are not touched.
  /// @pre capacity is a power of two; blockCount >= 1.
  static LeaderBroadcast create(void* memory, uint32_t capacity, uint32_t blockCount, uint64_t firstPosition = 0,
                                bool isZeroed = false) {
    static_assert(alignof(T) <= 64);
    auto* header = std::construct_at(static_cast<LeaderBroadcastHeader*>(memory));
    const LeaderBroadcast ring = at(memory, capacity, blockCount);
    header->capacity.store(capacity, order::relaxed);
    header->blockCount.store(blockCount, order::relaxed);
    for (uint32_t i = 0; i < blockCount; ++i) {
      std::construct_at(&ring.cursors[i]);
      ring.cursors[i].position.store(firstPosition, order::relaxed);
    }
    for (uint32_t i = 0; i < capacity && !isZeroed; ++i) std::construct_at(&ring.entries[i]);
    header->tail.store(firstPosition, order::relaxed);
    return ring;
  }

  static LeaderBroadcast attach(void* memory) {
    const auto* header = static_cast<LeaderBroadcastHeader*>(memory);
    return at(memory, header->capacity.load(order::relaxed), header->blockCount.load(order::relaxed));
  }

 private:
  static LeaderBroadcast at(void* memory, uint32_t capacity, uint32_t blockCount) {
    auto* bytes = static_cast<std::byte*>(memory);
    auto* cursors = reinterpret_cast<BroadcastCursor*>(bytes + sizeof(LeaderBroadcastHeader));
    auto* entries = reinterpret_cast<Plain<T>*>(cursors + blockCount);
    return {static_cast<LeaderBroadcastHeader*>(memory), cursors, entries, capacity, blockCount};
  }
};

struct BroadcastOrders {
  static constexpr Order publishTail = order::release;  // R1 -> A1: whoever sees the tail sees the entries below it
  static constexpr Order readTail = order::acquire;     // A1
  static constexpr Order passSlot = order::release;     // R2 -> A2: a slot is refilled after every block has read it
  static constexpr Order readCursor = order::acquire;   // A2
};

/// The leader's end. One at a time; it goes on where the last one stopped.
template <class T, class Orders = BroadcastOrders>
class BroadcastLeader {
 public:
  DFCCL_HD explicit BroadcastLeader(LeaderBroadcast<T> ring)
      : ring_(ring), tail_(ring.header->tail.load(order::relaxed)), slowest_(tail_ - ring.capacity) {}

  /// @return False: full; the slowest block has not passed the oldest entry.
  DFCCL_HD bool tryPublish(const T& entry) {
    if (!hasRoom()) return false;
    ring_.slot(tail_).set(entry);
    ++tail_;
    ring_.header->tail.store(tail_, Orders::publishTail);  // R1
    return true;
  }

  /// True if the next tryPublish() succeeds: look before taking what could not be given on.
  DFCCL_HD bool hasRoom() {
    if (tail_ - slowest_ < ring_.capacity) return true;
    uint64_t lag = 0;
    for (uint32_t i = 0; i < ring_.blockCount; ++i) {
      const uint64_t blockLag = tail_ - ring_.cursors[i].position.load(Orders::readCursor);  // A2
      if (blockLag > lag) lag = blockLag;
    }
    slowest_ = tail_ - lag;
    return lag < ring_.capacity;
  }

  /// Position of the next entry.
  DFCCL_HD uint64_t position() const { return tail_; }

 private:
  LeaderBroadcast<T> ring_;
  uint64_t tail_;
  uint64_t slowest_;  // no newer than the slowest cursor
};

/// One block's end; one object a block. It goes on where the block's last one stopped.
template <class T, class Orders = BroadcastOrders>
class BroadcastReader {
 public:
  DFCCL_HD BroadcastReader(LeaderBroadcast<T> ring, uint32_t block)
      : ring_(ring), block_(block), position_(ring.cursors[block].position.load(order::relaxed)), tail_(position_) {}

  /// Reads the entry at position() and leaves it there. @return False if there is none yet.
  DFCCL_HD bool peek(T& out) {
    if (position_ == tail_) {
      // On a GPU an acquiring load empties the cache, so only one that finds something may be one.
      if (ring_.header->tail.load(order::relaxed) == tail_) return false;
      tail_ = ring_.header->tail.load(Orders::readTail);  // A1
    }
    out = ring_.slot(position_).get();
    return true;
  }

  /// Passes the entry that peek() showed; this block will not look at it again.
  DFCCL_HD void pop() {
    ++position_;
    ring_.cursors[block_].position.store(position_, Orders::passSlot);  // R2
  }

  /// peek and pop at once.
  DFCCL_HD bool take(T& out) {
    if (!peek(out)) return false;
    pop();
    return true;
  }

  /// Whether there is another one now.
  DFCCL_HD bool hasMore() const { return ring_.header->tail.load(order::relaxed) != position_; }

  DFCCL_HD uint64_t position() const { return position_; }

 private:
  LeaderBroadcast<T> ring_;
  uint32_t block_;
  uint64_t position_;
  uint64_t tail_;  // no newer than the leader's
};

}  // namespace dfccl

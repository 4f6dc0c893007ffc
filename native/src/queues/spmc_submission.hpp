#pragma once
// The papers' submission queue: one producer, and every block reads the host's memory itself. Each block counts itself
// in the entry, and the last one frees the slot. Kept for comparison: 64 blocks that poll across PCIe take 25 times as
// long as one leader does.
//
//   byte 0              64
//        | n, blocks     | SpmcEntry[n], 128 bytes each       n = capacity, a power of two, at least 2
//          constant
//
//   SpmcEntry  byte 0             64            68
//                   | words[8]     | turn        | readers
//                     producer       who may act   blocks
//
//   turn of slot s, position p = s + lap * n:     p: the producer may fill it
//                                             p + 1: the blocks may read it
//                                             p + n: the last block has freed it for the next lap
//
// A turn has 32 bits and wraps; a slot only ever holds one of those three.
#include <cstddef>
#include <memory>

#include "queues/sqe_words.hpp"

namespace dfccl {

struct SpmcHeader {
  alignas(64) Atomic<uint32_t> capacity;  // constant after create()
  Atomic<uint32_t> blockCount;            // constant after create()
};

struct alignas(64) SpmcEntry {
  Plain<uint64_t> words[kSqeWords];
  Atomic<uint32_t> turn;
  Atomic<uint32_t> readers;
};
#if !defined(DFCCL_RELACY)
static_assert(sizeof(SpmcHeader) == 64 && offsetof(SpmcHeader, blockCount) == 4);
static_assert(sizeof(SpmcEntry) == 128 && offsetof(SpmcEntry, turn) == 64 && offsetof(SpmcEntry, readers) == 68);
#endif

/// Plain handle.
struct SpmcSubmission {
  SpmcHeader* header;
  SpmcEntry* entries;
  uint32_t capacity;
  uint32_t blockCount;

  DFCCL_HD SpmcEntry& slot(uint64_t position) const { return entries[position & (capacity - 1)]; }

  static constexpr size_t bytes(uint32_t capacity) { return sizeof(SpmcHeader) + size_t{capacity} * sizeof(SpmcEntry); }

  /// Makes an empty ring in `memory` (bytes() of it, 64-byte aligned) before anyone else sees it.
  /// @pre capacity is a power of two, at least 2; blockCount >= 1.
  static SpmcSubmission create(void* memory, uint32_t capacity, uint32_t blockCount, uint64_t firstPosition = 0) {
    std::construct_at(static_cast<SpmcHeader*>(memory));
    const SpmcSubmission ring = at(memory, capacity, blockCount);
    for (uint32_t i = 0; i < capacity; ++i) std::construct_at(&ring.entries[i]);
    ring.reset(firstPosition);
    return ring;
  }

  static SpmcSubmission attach(void* memory) {
    const auto* header = static_cast<SpmcHeader*>(memory);
    return at(memory, header->capacity.load(order::relaxed), header->blockCount.load(order::relaxed));
  }

  /// @pre Nobody else uses the ring.
  void reset(uint64_t firstPosition) const {
    header->capacity.store(capacity, order::relaxed);
    header->blockCount.store(blockCount, order::relaxed);
    for (uint32_t i = 0; i < capacity; ++i) {
      const uint64_t position = firstPosition + i;
      slot(position).turn.store(static_cast<uint32_t>(position), order::relaxed);
      slot(position).readers.store(0, order::relaxed);
    }
  }

 private:
  static SpmcSubmission at(void* memory, uint32_t capacity, uint32_t blockCount) {
    auto* bytes = static_cast<std::byte*>(memory);
    return {static_cast<SpmcHeader*>(memory), reinterpret_cast<SpmcEntry*>(bytes + sizeof(SpmcHeader)), capacity,
            blockCount};
  }
};

struct SpmcOrders {
  static constexpr Order publish = order::release;   // R1 -> A1: whoever sees the turn sees the entry
  static constexpr Order readTurn = order::acquire;  // A1
  static constexpr Order count = order::acqRel;      // R2 -> A2: the last block comes after every other block's reads
  static constexpr Order free = order::release;      // R3 -> A3: the slot is refilled after the last block
  static constexpr Order claim = order::acquire;     // A3
};

/// One at a time.
template <class Orders = SpmcOrders>
class SpmcProducer {
 public:
  /// @param position Where the last producer stopped.
  explicit SpmcProducer(SpmcSubmission ring, uint64_t position = 0) : ring_(ring), position_(position) {}

  /// @return False: full; some block has not read the oldest entry.
  bool trySubmit(const Sqe& sqe) {
    SpmcEntry& entry = ring_.slot(position_);
    if (entry.turn.load(Orders::claim) != static_cast<uint32_t>(position_)) return false;  // A3
    uint64_t payload[kSqeWords];
    packSqe(sqe, position_, payload);
    for (int i = 0; i < kSqeWords; ++i) entry.words[i].set(sqeSequence(position_) | payload[i]);
    ++position_;
    entry.turn.store(static_cast<uint32_t>(position_), Orders::publish);  // R1
    return true;
  }

  uint64_t position() const { return position_; }

 private:
  SpmcSubmission ring_;
  uint64_t position_;
};

/// One block's end; one object a block.
template <class Orders = SpmcOrders>
class SpmcConsumer {
 public:
  /// @param position Where this block's last consumer stopped.
  DFCCL_HD explicit SpmcConsumer(SpmcSubmission ring, uint64_t position = 0) : ring_(ring), position_(position) {}

  /// @return False: nothing new.
  DFCCL_HD bool take(Sqe& out) {
    SpmcEntry& entry = ring_.slot(position_);
    if (entry.turn.load(Orders::readTurn) != static_cast<uint32_t>(position_ + 1)) return false;  // A1
    uint64_t words[kSqeWords];
    for (int i = 0; i < kSqeWords; ++i) words[i] = entry.words[i].get();
    out = unpackSqe(words);
    if (entry.readers.fetchAdd(1, Orders::count) + 1 == ring_.blockCount) {  // R2, A2
      entry.readers.store(0, order::relaxed);                                // seen through R3 -> A3 -> R1 -> A1
      entry.turn.store(static_cast<uint32_t>(position_ + ring_.capacity), Orders::free);  // R3
    }
    ++position_;
    return true;
  }

  uint64_t position() const { return position_; }

 private:
  SpmcSubmission ring_;
  uint64_t position_;
};

}  // namespace dfccl

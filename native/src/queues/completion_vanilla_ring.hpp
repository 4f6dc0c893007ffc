#pragma once
// The textbook completion ring, kept because the papers measure the others against it: producers exclude each other,
// fill the entry at the tail and move the tail.
//
//   byte 0             64              128             192
//        | tail, n      | head          | lock          | entries[n] (u64)        n = capacity, a power of two
//          producers      poller          producers       producers
//
// Six accesses to host memory: lock, tail, head, entry, tail, unlock. The mutual exclusion is a try-lock, so a producer
// that dies inside makes the others answer "not now"; it can't damage an entry.
#include <cstddef>
#include <memory>

#include "queues/completion_queue.hpp"

namespace dfccl {

struct VanillaRingHeader {
  alignas(64) Atomic<uint64_t> tail;  // next position to fill; producers, under the lock
  Atomic<uint32_t> capacity;          // constant after create()
  alignas(64) Atomic<uint64_t> head;  // next position to read; the poller
  alignas(64) Atomic<uint32_t> lock;  // 0 or 1; producers
};
#if !defined(DFCCL_RELACY)
static_assert(sizeof(VanillaRingHeader) == 192 && offsetof(VanillaRingHeader, capacity) == 8);
static_assert(offsetof(VanillaRingHeader, head) == 64 && offsetof(VanillaRingHeader, lock) == 128);
#endif

struct VanillaRingOrders {
  static constexpr Order publishTail = order::release;  // R1 -> A1: whoever sees the tail sees entries and results
  static constexpr Order readTail = order::acquire;     // A1
  static constexpr Order publishHead = order::release;  // R2 -> A2: an entry is refilled after the poller has read it
  static constexpr Order readHead = order::acquire;     // A2
  static constexpr Order unlock = order::release;       // R3 -> A3: the next producer sees the last one's tail
  static constexpr Order lock = order::acquire;         // A3
};

/// Needs of memory: compare-and-swap on host memory, and that the entry's store is seen before the tail's.
template <class Orders = VanillaRingOrders>
struct CompletionVanillaRing {
  static constexpr Guarantees kGuarantees{.needsHostAtomics = true, .operationsPerPost = 6, .ordered = true};

  VanillaRingHeader* header;
  Plain<uint64_t>* entries;
  uint32_t capacity;

  static constexpr size_t bytes(uint32_t capacity) {
    return sizeof(VanillaRingHeader) + size_t{capacity} * sizeof(Plain<uint64_t>);
  }

  /// Makes an empty ring in `memory` (bytes() of it, 64-byte aligned) before anyone else sees it.
  /// @pre capacity is a power of two.
  static CompletionVanillaRing create(void* memory, uint32_t capacity, uint64_t firstPosition = 0) {
    std::construct_at(static_cast<VanillaRingHeader*>(memory));
    const CompletionVanillaRing ring = at(memory, capacity);
    for (uint32_t i = 0; i < capacity; ++i) std::construct_at(&ring.entries[i]);
    ring.reset(firstPosition);
    return ring;
  }

  static CompletionVanillaRing attach(void* memory) {
    return at(memory, static_cast<VanillaRingHeader*>(memory)->capacity.load(order::relaxed));
  }

  /// @pre Nobody else uses the ring.
  void reset(uint64_t firstPosition) const {
    header->capacity.store(capacity, order::relaxed);
    header->tail.store(firstPosition, order::relaxed);
    header->head.store(firstPosition, order::relaxed);
    header->lock.store(0, order::relaxed);
  }

  class Producer {
   public:
    DFCCL_HD explicit Producer(CompletionVanillaRing ring) : ring_(ring) {}

    /// @return False: full, or another producer is at work.
    DFCCL_HD bool post(uint32_t, uint64_t cqe) {
      VanillaRingHeader& header = *ring_.header;
      uint32_t unlocked = 0;
      if (!header.lock.compareExchange(unlocked, 1, Orders::lock, order::relaxed)) return false;  // A3
      const uint64_t tail = header.tail.load(order::relaxed);
      const bool hasRoom = tail - header.head.load(Orders::readHead) < ring_.capacity;  // A2
      if (hasRoom) {
        ring_.entries[tail & (ring_.capacity - 1)].set(cqe);
        header.tail.store(tail + 1, Orders::publishTail);  // R1
      }
      header.lock.store(0, Orders::unlock);  // R3
      return hasRoom;
    }

   private:
    CompletionVanillaRing ring_;
  };

  /// One at a time.
  class Poller {
   public:
    explicit Poller(CompletionVanillaRing ring) : ring_(ring), head_(ring.header->head.load(order::relaxed)) {}

    std::optional<uint64_t> poll() {
      if (head_ == ring_.header->tail.load(Orders::readTail)) return std::nullopt;  // A1
      const uint64_t cqe = ring_.entries[head_ & (ring_.capacity - 1)].get();
      ++head_;
      ring_.header->head.store(head_, Orders::publishHead);  // R2
      return cqe;
    }

   private:
    CompletionVanillaRing ring_;
    uint64_t head_;
  };

 private:
  static CompletionVanillaRing at(void* memory, uint32_t capacity) {
    auto* bytes = static_cast<std::byte*>(memory);
    return {static_cast<VanillaRingHeader*>(memory),
            reinterpret_cast<Plain<uint64_t>*>(bytes + sizeof(VanillaRingHeader)), capacity};
  }
};
static_assert(CompletionQueue<CompletionVanillaRing<>>);

}  // namespace dfccl

#pragma once
// A completion ring whose entry says itself that it is there: the completion and the lap travel in one atomic 64-bit
// store, so there is no tail to publish and no order to keep between two stores.
//
//   byte 0             64              128
//        | reserved, n  | head          | entries[n] (u64)        n = capacity, a power of two
//          producers      poller          producers
//
//   entry     63       48 47        34 33 32 31           0
//            | run        | lap + 1   | st  | collective id |     st: the status' low two bits, all that it has
//
// Four accesses to host memory: reserved, head, compare-and-swap of reserved, entry. The poller goes in order, so a
// producer that dies between the last two holds up what was posted after it, and overwrites nothing.
#include <cstddef>
#include <memory>

#include "queues/completion_queue.hpp"

namespace dfccl {

struct PackedRingHeader {
  alignas(64) Atomic<uint64_t> reserved;  // next position to reserve; producers. 64 bits: a CAS must not meet its past
  Atomic<uint32_t> capacity;              // constant after create()
  alignas(64) Atomic<uint64_t> head;      // next position to read; the poller
};
#if !defined(DFCCL_RELACY)
static_assert(sizeof(PackedRingHeader) == 128 && offsetof(PackedRingHeader, head) == 64);
static_assert(offsetof(PackedRingHeader, capacity) == 8);
#endif

struct PackedRingOrders {
  static constexpr Order publish = order::release;    // R1 -> A1: whoever sees the entry sees the results
  static constexpr Order readEntry = order::acquire;  // A1
};
// Nothing else needs an order. `reserved` hands over numbers, no data. `head` can be relaxed on both sides because A1
// already keeps the poller's read of an entry before its store of the head, and the producer's store of an entry
// depends on what it read there: the poller can't read a later lap's entry in place of this one's.

/// Needs of memory: compare-and-swap on host memory. No order between stores, hence no fence before a second store.
template <class Orders = PackedRingOrders>
struct CompletionPackedRing {
  static constexpr Guarantees kGuarantees{.needsHostAtomics = true, .operationsPerPost = 4, .ordered = true};
  static constexpr int kLapShift = 34;
  static constexpr uint64_t kLapMask = uint64_t{0x3fff} << kLapShift;

  PackedRingHeader* header;
  Atomic<uint64_t>* entries;
  uint32_t capacity;

  static constexpr size_t bytes(uint32_t capacity) {
    return sizeof(PackedRingHeader) + size_t{capacity} * sizeof(Atomic<uint64_t>);
  }

  /// Makes an empty ring in `memory` (bytes() of it, 64-byte aligned) before anyone else sees it.
  /// @pre capacity is a power of two.
  static CompletionPackedRing create(void* memory, uint32_t capacity, uint64_t firstPosition = 0) {
    std::construct_at(static_cast<PackedRingHeader*>(memory));
    const CompletionPackedRing ring = at(memory, capacity);
    for (uint32_t i = 0; i < capacity; ++i) std::construct_at(&ring.entries[i]);
    ring.reset(firstPosition);
    return ring;
  }

  static CompletionPackedRing attach(void* memory) {
    return at(memory, static_cast<PackedRingHeader*>(memory)->capacity.load(order::relaxed));
  }

  /// @pre Nobody else uses the ring.
  void reset(uint64_t firstPosition) const {
    for (uint32_t i = 0; i < capacity; ++i) {
      const uint64_t position = firstPosition + i;
      slot(position).store(lapBits(position - capacity), order::relaxed);
    }
    header->capacity.store(capacity, order::relaxed);
    header->reserved.store(firstPosition, order::relaxed);
    header->head.store(firstPosition, order::relaxed);
  }

  class Producer {
   public:
    DFCCL_HD explicit Producer(CompletionPackedRing ring) : ring_(ring) {}

    /// @return False: full. Turns only while other producers get ahead of it.
    DFCCL_HD bool post(uint32_t, uint64_t cqe) {
      PackedRingHeader& header = *ring_.header;
      uint64_t position = header.reserved.load(order::relaxed);
      do {
        // The head may be newer than `reserved`; then the difference is negative and the compare-and-swap fails.
        const auto used = static_cast<int64_t>(position - header.head.load(order::relaxed));
        if (used >= static_cast<int64_t>(ring_.capacity)) return false;
      } while (!header.reserved.compareExchange(position, position + 1, order::relaxed, order::relaxed));
      ring_.slot(position).store((cqe & ~kLapMask) | ring_.lapBits(position), Orders::publish);  // R1
      return true;
    }

   private:
    CompletionPackedRing ring_;
  };

  /// One at a time.
  class Poller {
   public:
    explicit Poller(CompletionPackedRing ring) : ring_(ring), head_(ring.header->head.load(order::relaxed)) {}

    std::optional<uint64_t> poll() {
      const uint64_t entry = ring_.slot(head_).load(Orders::readEntry);  // A1
      if ((entry & kLapMask) != ring_.lapBits(head_)) return std::nullopt;
      ++head_;
      ring_.header->head.store(head_, order::relaxed);
      return entry & ~kLapMask;
    }

   private:
    CompletionPackedRing ring_;
    uint64_t head_;
  };

 private:
  DFCCL_HD Atomic<uint64_t>& slot(uint64_t position) const { return entries[position & (capacity - 1)]; }
  DFCCL_HD uint64_t lapBits(uint64_t position) const { return ((position / capacity + 1) << kLapShift) & kLapMask; }

  static CompletionPackedRing at(void* memory, uint32_t capacity) {
    auto* bytes = static_cast<std::byte*>(memory);
    return {static_cast<PackedRingHeader*>(memory),
            reinterpret_cast<Atomic<uint64_t>*>(bytes + sizeof(PackedRingHeader)), capacity};
  }
};
static_assert(CompletionQueue<CompletionPackedRing<>>);

}  // namespace dfccl

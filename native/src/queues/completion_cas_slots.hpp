#pragma once
// The papers' fastest completion queue: no ring at all. A producer swaps its completion into any slot that is 0, the
// poller looks at every slot and writes 0 back. One access to host memory where the first slot tried is free.
//
//   byte 0              64
//        | slotCount     | slots[slotCount] (u64)        slotCount a power of two, at least 8
//          constant        producers, poller
#include <cstddef>
#include <memory>

#include "queues/completion_queue.hpp"

namespace dfccl {

struct CasSlotsHeader {
  alignas(64) Atomic<uint32_t> slotCount;
};
#if !defined(DFCCL_RELACY)
static_assert(sizeof(CasSlotsHeader) == 64);
#endif

struct CasSlotsOrders {
  static constexpr Order post = order::release;      // R1 -> A1: whoever sees the CQE sees the results
  static constexpr Order readSlot = order::acquire;  // A1
};
// Freeing is relaxed: a producer's swap reads the very zero that the poller stored, and nothing but the slot is handed
// back with it.

/// Needs of memory: compare-and-swap on host memory.
template <class Orders = CasSlotsOrders>
struct CompletionCasSlots {
  static constexpr Guarantees kGuarantees{.needsHostAtomics = true, .operationsPerPost = 1, .ordered = false};

  CasSlotsHeader* header;
  Atomic<uint64_t>* slots;  // 0 = free
  uint32_t slotCount;

  static constexpr size_t bytes(uint32_t slotCount) {
    return sizeof(CasSlotsHeader) + size_t{slotCount} * sizeof(Atomic<uint64_t>);
  }

  /// Makes an empty queue in `memory` (bytes() of it, 64-byte aligned) before anyone else sees it.
  /// @pre slotCount is a power of two.
  static CompletionCasSlots create(void* memory, uint32_t slotCount) {
    std::construct_at(static_cast<CasSlotsHeader*>(memory));
    const CompletionCasSlots queue = at(memory, slotCount);
    for (uint32_t i = 0; i < slotCount; ++i) std::construct_at(&queue.slots[i]);
    queue.header->slotCount.store(slotCount, order::relaxed);
    return queue;
  }

  static CompletionCasSlots attach(void* memory) {
    return at(memory, static_cast<CasSlotsHeader*>(memory)->slotCount.load(order::relaxed));
  }

  class Producer {
   public:
    DFCCL_HD explicit Producer(CompletionCasSlots queue) : queue_(queue) {}

    /// @return False: every slot was taken when it was tried.
    DFCCL_HD bool post(uint32_t, uint64_t cqe) {
      // Producers start apart, by collective, so that they seldom try the same slot.
      const uint32_t first = static_cast<uint32_t>(cqe) * 2654435769u >> 7;
      for (uint32_t i = 0; i < queue_.slotCount; ++i) {
        uint64_t vacant = 0;
        Atomic<uint64_t>& slot = queue_.slots[(first + i) & (queue_.slotCount - 1)];
        if (slot.compareExchange(vacant, cqe, Orders::post, order::relaxed)) return true;  // R1
      }
      return false;
    }

   private:
    CompletionCasSlots queue_;
  };

  /// One at a time. A miss costs a look at every slot.
  class Poller {
   public:
    explicit Poller(CompletionCasSlots queue) : queue_(queue) {}

    std::optional<uint64_t> poll() {
      for (uint32_t i = 0; i < queue_.slotCount; ++i) {
        Atomic<uint64_t>& slot = queue_.slots[cursor_];
        cursor_ = (cursor_ + 1) & (queue_.slotCount - 1);
        const uint64_t cqe = slot.load(Orders::readSlot);  // A1
        if (cqe == 0) continue;
        slot.store(0, order::relaxed);
        return cqe;
      }
      return std::nullopt;
    }

   private:
    CompletionCasSlots queue_;
    uint32_t cursor_ = 0;
  };

 private:
  static CompletionCasSlots at(void* memory, uint32_t slotCount) {
    auto* bytes = static_cast<std::byte*>(memory);
    return {static_cast<CasSlotsHeader*>(memory), reinterpret_cast<Atomic<uint64_t>*>(bytes + sizeof(CasSlotsHeader)),
            slotCount};
  }
};
static_assert(CompletionQueue<CompletionCasSlots<>>);

}  // namespace dfccl

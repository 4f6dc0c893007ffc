#pragma once
// The default completion queue: the submitter claims a slot, the SQE carries it, the daemon posts there with one store.
// No read, no read-modify-write, no neighbour: what a GPU does best across the bus. A slot belongs to one run from the
// claim until the poller frees it, so no completion can overwrite another, whatever order they come in.
//
//   byte 0              64              128            128 + 8n                     n = slotCount, a multiple of 8
//        | freed         | claimed, used | slots[n]     | freeList[n] (u32)
//          poller          submitters      daemon, poller
//
// freeList is a ring of the slots that were given back, oldest first. It has room for all, so freeing never fails. A
// claim takes the oldest of them; only if there is none, it takes the next slot that nobody has used:
//
//   freeList   | 2 | 1 | 4 | 0 | 3 | . | . | . |     used: 0 to 4; free: 4 0 3, the next claim gets 4
//                        ^claimed    ^freed
//
// So slots in use, and what the engine and the submitter keep beside them, are as few as runs have ever been in flight
// at once: they stay in cache, and the poller looks at no others. The counters of the ring are 32-bit and wrap; they
// are never more than slotCount apart.
#include <cstddef>
#include <memory>

#include "queues/completion_queue.hpp"

namespace dfccl {

struct OwnedSlotsHeader {
  alignas(64) Atomic<uint32_t> freed;    // slots put on the free list since creation; the poller
  Atomic<uint32_t> slotCount;            // a power of two, at least 8; constant after create()
  alignas(64) Atomic<uint32_t> claimed;  // slots taken off the free list; submitters, one at a time
  Atomic<uint32_t> used;                 // slots that were ever claimed: 0 to used - 1; submitters, one at a time
};
#if !defined(DFCCL_RELACY)
static_assert(sizeof(OwnedSlotsHeader) == 128);
static_assert(offsetof(OwnedSlotsHeader, slotCount) == 4 && offsetof(OwnedSlotsHeader, claimed) == 64 &&
              offsetof(OwnedSlotsHeader, used) == 68);
#endif

struct OwnedSlotsOrders {
  static constexpr Order post = order::release;      // R1 -> A1: whoever sees the CQE sees the results
  static constexpr Order readSlot = order::acquire;  // A1
  static constexpr Order free = order::release;      // R2 -> A2: a slot is claimed after the poller is done with it
  static constexpr Order claim = order::acquire;     // A2
};

/// Needs of memory: aligned 8-byte loads and stores that are not torn. Nothing else: it works across PCIe.
template <class Orders = OwnedSlotsOrders>
struct CompletionOwnedSlots {
  static constexpr Guarantees kGuarantees{.needsHostAtomics = false, .operationsPerPost = 1, .ordered = false};

  OwnedSlotsHeader* header;
  Atomic<uint64_t>* slots;  // status 0 = nothing posted
  Plain<uint32_t>* freeList;
  uint32_t slotCount;

  static constexpr size_t bytes(uint32_t slotCount) {
    return sizeof(OwnedSlotsHeader) + size_t{slotCount} * (sizeof(Atomic<uint64_t>) + sizeof(Plain<uint32_t>));
  }

  static constexpr bool isValidSlotCount(uint32_t n) { return n >= 8 && n < (1u << 31) && (n & (n - 1)) == 0; }

  /// Makes a queue with all slots free in `memory` (bytes() of it, 64-byte aligned) before anyone else sees it.
  /// @param isZeroed the memory is zero: then slots, most of which may never be used, are not touched.
  /// @pre isValidSlotCount(slotCount). firstClaim is for tests of the wrap.
  static CompletionOwnedSlots create(void* memory, uint32_t slotCount, uint32_t firstClaim = 0, bool isZeroed = false) {
    std::construct_at(static_cast<OwnedSlotsHeader*>(memory));
    const CompletionOwnedSlots queue = at(memory, slotCount);
    for (uint32_t i = 0; i < slotCount && !isZeroed; ++i) {
      std::construct_at(&queue.slots[i]);
      std::construct_at(&queue.freeList[i]);
    }
    queue.resetHeader(firstClaim);
    return queue;
  }

  static CompletionOwnedSlots attach(void* memory) {
    return at(memory, static_cast<OwnedSlotsHeader*>(memory)->slotCount.load(order::relaxed));
  }

  /// @pre Nobody else uses the queue.
  void reset(uint32_t firstClaim) const {
    for (uint32_t i = 0; i < slotCount; ++i) slots[i].store(0, order::relaxed);
    resetHeader(firstClaim);
  }

  /// A submitter's end. Claims are made one at a time: between a SubmissionProducer's tryReserve() and publish().
  class Claimer {
   public:
    explicit Claimer(CompletionOwnedSlots queue) : queue_(queue) {}

    /// @return A slot that is this submitter's until the poller has delivered its completion, or kNoCompletionSlot.
    uint32_t tryClaim() {
      const uint32_t claimed = queue_.header->claimed.load(order::relaxed);
      if (claimed == queue_.header->freed.load(Orders::claim)) return tryClaimUnused();  // A2
      const uint32_t slot = queue_.freeList[claimed & (queue_.slotCount - 1)].get();
      queue_.header->claimed.store(claimed + 1, order::relaxed);
      return slot;
    }

    /// Slots that are claimed now; fewer may be so.
    uint32_t claimedCount() const {
      return queue_.header->claimed.load(order::relaxed) + queue_.header->used.load(order::relaxed) -
             queue_.header->freed.load(order::relaxed);
    }

    /// Slots that are free now; more may become so.
    uint32_t freeCount() const {
      return queue_.header->freed.load(order::relaxed) - queue_.header->claimed.load(order::relaxed) +
             queue_.slotCount - queue_.header->used.load(order::relaxed);
    }

   private:
    uint32_t tryClaimUnused() {
      const uint32_t slot = queue_.header->used.load(order::relaxed);
      if (slot == queue_.slotCount) return kNoCompletionSlot;
      queue_.header->used.store(slot + 1, order::relaxed);
      return slot;
    }

    CompletionOwnedSlots queue_;
  };

  /// The daemon's end; as many as it has blocks.
  class Producer {
   public:
    DFCCL_HD explicit Producer(CompletionOwnedSlots queue) : queue_(queue) {}

    /// @pre `slot` is the one that the run's SQE carried; nothing was posted there for this run. Never refused.
    DFCCL_HD bool post(uint32_t slot, uint64_t cqe) {
      queue_.slots[slot].store(cqe, Orders::post);  // R1
      return true;
    }

   private:
    CompletionOwnedSlots queue_;
  };

  /// The host's end. One at a time.
  class Poller {
   public:
    explicit Poller(CompletionOwnedSlots queue) : queue_(queue), freed_(queue.header->freed.load(order::relaxed)) {}

    /// Delivers one completion and frees its slot. A miss costs a look at every used slot while any is claimed.
    std::optional<uint64_t> poll() {
      const Taken taken = pollSlot();
      if (taken.slot == kNoCompletionSlot) return std::nullopt;
      free(taken.slot);
      return taken.cqe;
    }

    struct Taken {
      uint32_t slot;  // kNoCompletionSlot: nothing there
      uint64_t cqe;
    };

    /// Finds one completion and keeps its slot claimed, so that what the submitter keeps per slot may still be read.
    /// @post free(slot) is called once, before or after further polls.
    Taken pollSlot() {
      const uint32_t used = queue_.header->used.load(order::relaxed);
      // Claims, of free slots and of unused ones, less what was given back.
      if (queue_.header->claimed.load(order::relaxed) + used == freed_) return {kNoCompletionSlot, 0};
      for (uint32_t i = 0; i < used; ++i) {
        const uint32_t slot = cursor_;
        cursor_ = cursor_ + 1 < used ? cursor_ + 1 : 0;
        const uint64_t cqe = queue_.slots[slot].load(Orders::readSlot);  // A1
        if (((cqe >> 32) & 0xffff) == 0) continue;  // no status: free, or JavaScript has stored the low half only
        // The zero reaches the slot before the next run's CQE: that is posted only after R2 -> A2 and its submission.
        queue_.slots[slot].store(0, order::relaxed);
        return {slot, cqe};
      }
      return {kNoCompletionSlot, 0};
    }

    void free(uint32_t slot) {
      queue_.freeList[freed_ & (queue_.slotCount - 1)].set(slot);
      ++freed_;
      queue_.header->freed.store(freed_, Orders::free);  // R2
    }

   private:
    CompletionOwnedSlots queue_;
    uint32_t freed_;
    uint32_t cursor_ = 0;  // where the next scan begins
  };

 private:
  void resetHeader(uint32_t firstClaim) const {
    header->slotCount.store(slotCount, order::relaxed);
    header->claimed.store(firstClaim, order::relaxed);
    header->used.store(0, order::relaxed);
    header->freed.store(firstClaim, order::relaxed);
  }

  static CompletionOwnedSlots at(void* memory, uint32_t slotCount) {
    auto* bytes = static_cast<std::byte*>(memory);
    auto* slots = reinterpret_cast<Atomic<uint64_t>*>(bytes + sizeof(OwnedSlotsHeader));
    auto* freeList = reinterpret_cast<Plain<uint32_t>*>(slots + slotCount);
    return {static_cast<OwnedSlotsHeader*>(memory), slots, freeList, slotCount};
  }
};
static_assert(CompletionQueue<CompletionOwnedSlots<>>);

}  // namespace dfccl

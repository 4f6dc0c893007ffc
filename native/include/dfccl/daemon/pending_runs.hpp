#pragma once
// Runs that may not begin yet: each waits for a stream of the caller's to come to it, or behind a run of its own id
// that does. They wait beside the submission queue, so that no other id waits with them; runs of one id keep the order
// of their submission (decision 14).
//
//   the host's queue  ->  hold()  ->  [id]: first, next, next, last
//                                       ^ a run begins once it is the first of its id and open
//   a stream          ->  notices: a ring of completion slots, in the order in which streams came to them
//
// A stream may come before the leader has read the entry: the notice opens the slot all the same. A slot is claimed
// until its run completes, which it doesn't before its notice was taken, aborted or not: so the ring never laps.
#include <bit>
#include <cstdint>

#include "dfccl/array.hpp"
#include "dfccl/atomics.hpp"
#include "dfccl/daemon/run_addresses.hpp"
#include "dfccl/sqe.hpp"

namespace dfccl {

inline constexpr uint32_t kNoPending = 0xffffffff;

/// What a stream writes when it comes to a run: the completion slot, and a sequence that says that it is there.
struct NoticeRing {
  struct Header {
    alignas(64) Atomic<uint64_t, Scope::device> tail;  // notices begun, by any number of streams
    Atomic<uint32_t, Scope::device> isRead;            // a daemon is inside, which looks here before it has left
    alignas(64) Atomic<uint64_t, Scope::device> head;  // notices taken; the leader's, like all below
    Atomic<uint32_t, Scope::device> ready;             // a run that may begin, or kNoPending
    uint32_t held;                                     // runs that wait
  };
  Header* header = nullptr;
  Atomic<uint64_t, Scope::device>* words = nullptr;
  uint32_t capacity = 0;  // a power of two, no less than there are completion slots

  static constexpr uint32_t capacityFor(uint32_t completionSlots) { return std::bit_ceil(completionSlots); }

  /// By the stream. @return the notice's position.
  DFCCL_HD uint64_t add(uint32_t slot) const {
    const uint64_t position = header->tail.fetchAdd(1, order::relaxed);
    words[position & (capacity - 1)].store(slot | uint64_t{static_cast<uint32_t>(position + 1)} << 32, order::release);
    return position;
  }
};

struct PendingRun {
  uint64_t sendAddress;
  uint64_t recvAddress;
  uint16_t sendWindow;
  uint16_t recvWindow;
  uint32_t collective;
  uint32_t next;    // the run of the same id that waits behind it, or kNoPending
  uint8_t isHeld;   // the leader has read its entry
  uint8_t isOpen;   // its stream has come, or it waits for none
  uint8_t isFirst;  // none of its id waits before it
};

/// Where they lie, in device memory: they outlive a stay.
struct PendingMemory {
  NoticeRing notices{};
  Array<PendingRun> runs{};    // [completion slot]
  Array<uint32_t> lastOfId{};  // [collective's index]: the run that waits last, or kNoPending

  /// Whether a leader would find something to do here. Any thread may ask.
  DFCCL_HD bool hasWork() const {
    const NoticeRing::Header& h = *notices.header;
    return h.tail.load(order::acquire) != h.head.load(order::relaxed) || h.ready.load(order::relaxed) != kNoPending;
  }
};

/// The leader's view of them.
template <class Rules>
class PendingRuns {
 public:
  DFCCL_HD explicit PendingRuns(const PendingMemory& memory)
      : m_(memory),
        head_(memory.notices.header->head.load(order::relaxed)),
        held_(memory.notices.header->held),
        ready_(memory.notices.header->ready.load(order::relaxed)) {}

  /// Whether next() may have something. @param tail of the notices, as far as known.
  DFCCL_HD bool mayHaveNext(uint64_t tail) const { return tail != head_ || ready_ != kNoPending; }

  /// Whether an entry of the host's has to wait.
  DFCCL_HD bool mustWait(const Sqe& sqe) const {
    if ((sqe.flags & kSqeBehindStream) != 0) return Rules::waitsForStreams;
    return held_ != 0 && Rules::waitsBehindItsId && m_.lastOfId[sqe.id] != kNoPending;
  }

  /// Whether its stream has come to a run that nothing holds.
  DFCCL_HD bool isOpen(const Sqe& sqe) const { return m_.runs[sqe.completionSlot].isOpen != 0; }

  DFCCL_HD DFCCL_COLD void hold(const Sqe& sqe) {
    PendingRun& run = m_.runs[sqe.completionSlot];
    uint32_t& last = m_.lastOfId[sqe.id];
    run.sendAddress = sqe.sendAddress;
    run.recvAddress = sqe.recvAddress;
    run.sendWindow = sqe.sendWindow;
    run.recvWindow = sqe.recvWindow;
    run.collective = sqe.id;
    run.next = kNoPending;
    run.isHeld = 1;
    run.isOpen |= (sqe.flags & kSqeBehindStream) == 0;
    run.isFirst = last == kNoPending;
    if (last != kNoPending) m_.runs[last].next = sqe.completionSlot;
    last = sqe.completionSlot;
    ++held_;
    if (run.isFirst && run.isOpen) ready_ = sqe.completionSlot;
    keep();
  }

  /// @return whether a run may begin: then it is `out`, and waits no more.
  DFCCL_HD DFCCL_COLD bool next(Sqe& out) {
    while (ready_ == kNoPending) {
      if (!takeNotice()) return false;
    }
    const uint32_t slot = ready_;
    PendingRun& run = m_.runs[slot];
    out = Sqe{};
    out.id = run.collective;
    out.completionSlot = slot;
    out.sendAddress = run.sendAddress;
    out.recvAddress = run.recvAddress;
    out.sendWindow = run.sendWindow;
    out.recvWindow = run.recvWindow;
    const uint32_t behind = run.next;
    run.isHeld = run.isOpen = run.isFirst = 0;
    ready_ = kNoPending;
    if (behind == kNoPending) {
      m_.lastOfId[out.id] = kNoPending;
    } else {
      m_.runs[behind].isFirst = 1;
      if (m_.runs[behind].isOpen) ready_ = behind;
    }
    --held_;
    keep();
    return true;
  }

 private:
  DFCCL_HD bool takeNotice() {
    const NoticeRing& ring = m_.notices;
    const uint64_t word = ring.words[head_ & (ring.capacity - 1)].load(order::acquire);
    if (word >> 32 != static_cast<uint32_t>(head_ + 1)) return false;  // at most begun
    const auto slot = static_cast<uint32_t>(word);
    ++head_;
    PendingRun& run = m_.runs[slot];
    run.isOpen = 1;
    if (run.isHeld && run.isFirst) ready_ = slot;
    keep();
    return true;
  }

  /// For the next stay.
  DFCCL_HD void keep() const {
    m_.notices.header->head.store(head_, order::relaxed);
    m_.notices.header->ready.store(ready_, order::relaxed);
    m_.notices.header->held = held_;
  }

  const PendingMemory& m_;
  uint64_t head_;
  uint32_t held_;
  uint32_t ready_;
};

/// Where there are no streams.
struct NoPendingRuns {
  DFCCL_HD explicit NoPendingRuns(const PendingMemory&) {}
  DFCCL_HD static constexpr bool mayHaveNext(uint64_t) { return false; }
  DFCCL_HD static constexpr bool mustWait(const Sqe&) { return false; }
  DFCCL_HD static constexpr bool isOpen(const Sqe&) { return true; }
  DFCCL_HD static constexpr bool next(Sqe&) { return false; }
  DFCCL_HD static void hold(const Sqe&) {}
};

}  // namespace dfccl

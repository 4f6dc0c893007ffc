#pragma once
// A connector carries slots of data from one block of one rank to one block of another (DFCCL, section 4.1). The two
// counters are the whole synchronization: what was written before `tail` moved stays visible to the receiver whenever
// either side is preempted, which is why a collective can be suspended at any slice.
//
//   position:   head ........ tail            slot of position p = p % slotCount
//               |<- filled ->|<- free until head + slotCount ->
//
// The counters belong to the memory and only grow (correctness.md, "Data"): a connector that changes owner keeps
// counting, so nothing of the former owner can look like the new owner's data.
#include <cstddef>
#include <cstdint>

#include "base/atomics.hpp"

namespace dfccl {

struct ConnectorMemory {
  alignas(64) Atomic<uint64_t> tail;  // slots filled so far; written by the sender only
  alignas(64) Atomic<uint64_t> head;  // slots freed so far; written by the receiver only
};
static_assert(sizeof(ConnectorMemory) == 128);

/// One end of a connection. Plain pointers: the same handle serves the sending and the receiving side.
struct Connector {
  ConnectorMemory* memory;  // this end's own counters, which it also reads the other's progress from
  uint8_t* slots;
  uint32_t slotCount;
  uint32_t slotBytes;  // wire bytes of a slot, a multiple of 128
  // The other end's counters. The same as `memory` where both ends share memory; between GPUs each end polls its own
  // memory and writes into the other's, because a read across the link costs as much as two messages.
  ConnectorMemory* theirs;

  DFCCL_HD uint8_t* slotAt(uint64_t position) const { return slots + (position % slotCount) * slotBytes; }
  DFCCL_HD uint64_t sendPosition() const { return memory->tail.load(order::relaxed); }     // sender only
  DFCCL_HD uint64_t receivePosition() const { return memory->head.load(order::relaxed); }  // receiver only

  // What follows takes this end's own position, which its caller has looked up once: where the counters are on the
  // other side of a bus, each look costs a microsecond.

  /// Sender: is a slot free? Pairs with releaseSlot(): whoever sees the slot freed may overwrite it.
  DFCCL_HD bool hasCredit(uint64_t position) const { return position - memory->head.load(order::acquire) < slotCount; }
  /// Sender: the slot is filled (Simple), or its flags are (the others, where tail is private).
  DFCCL_HD void publishSlot(uint64_t position) const {
    theirs->tail.store(position + 1, order::release);
    if (theirs != memory) memory->tail.store(position + 1, order::relaxed);
  }
  /// Receiver: done with the slot.
  DFCCL_HD void releaseSlot(uint64_t position) const {
    theirs->head.store(position + 1, order::release);
    if (theirs != memory) memory->head.store(position + 1, order::relaxed);
  }
  /// Receiver, Simple and bare signals: has the slot been published?
  DFCCL_HD bool isPublished(uint64_t position) const { return memory->tail.load(order::acquire) != position; }
};

}  // namespace dfccl

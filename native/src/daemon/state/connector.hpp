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
#include <cstring>

#include "base/atomics.hpp"
#include "base/types.hpp"

namespace dfccl {

struct ConnectorMemory {
  alignas(64) Atomic<uint64_t> tail;  // slots filled so far; written by the sender only
  alignas(64) Atomic<uint64_t> head;  // slots freed so far; written by the receiver only
};
static_assert(sizeof(ConnectorMemory) == 128);

/// Bytes of wire that `payloadBytes` take in a slot.
DFCCL_HD constexpr size_t wireBytes(Protocol protocol, size_t payloadBytes) {
  switch (protocol) {
    case Protocol::ll:
      return (payloadBytes + 3) / 4 * 8;
    case Protocol::ll128:
      return (payloadBytes + 119) / 120 * 128;
    case Protocol::simple:
      break;
  }
  return payloadBytes;
}

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

  /// Sender: is a slot free? Pairs with releaseSlot(): whoever sees the slot freed may overwrite it.
  DFCCL_HD bool hasCredit() const { return sendPosition() - memory->head.load(order::acquire) < slotCount; }
  /// Sender: the slot at sendPosition() is filled (Simple), or its flags are (LL forms, where tail is private).
  DFCCL_HD void publishSlot() const {
    const uint64_t next = sendPosition() + 1;
    theirs->tail.store(next, order::release);
    if (theirs != memory) memory->tail.store(next, order::relaxed);
  }
  /// Receiver: done with the slot at receivePosition().
  DFCCL_HD void releaseSlot() const {
    const uint64_t next = receivePosition() + 1;
    theirs->head.store(next, order::release);
    if (theirs != memory) memory->head.store(next, order::relaxed);
  }
  /// Receiver, Simple and bare signals: has the slot at receivePosition() been published?
  DFCCL_HD bool isPublished() const { return memory->tail.load(order::acquire) != receivePosition(); }
};

// LL: 8-byte words {4 bytes of data, 4 bytes of flag}; a word arrives whole, so data and flag need no order between
// them. The flag is the position's low 31 bits below a bit that is always set: cleared memory holds no flag, whatever
// the position. A short message leaves old flags behind it; once in 2^30 positions the sender fills the whole slot, so
// no flag ever survives until its value comes round again.
namespace ll {

DFCCL_HD constexpr uint32_t flagOf(uint64_t position) { return static_cast<uint32_t>(position) | 0x80000000; }
DFCCL_HD constexpr bool mustFill(uint64_t position, uint32_t slotCount) { return (position & 0x3fffffff) < slotCount; }

inline void pack(uint8_t* slot, const uint8_t* payload, size_t bytes, uint64_t position, size_t slotBytes, bool fill) {
  auto* words = reinterpret_cast<Atomic<uint64_t>*>(slot);
  const uint64_t flag = uint64_t{flagOf(position)} << 32;
  size_t word = 0;
  for (size_t at = 0; at < bytes; at += 4, ++word) {
    uint32_t data = 0;
    std::memcpy(&data, payload + at, bytes - at < 4 ? bytes - at : 4);
    words[word].store(flag | data, order::release);
  }
  if (bytes == 0) words[word++].store(flag, order::release);
  if (fill) {
    for (; word < slotBytes / 8; ++word) words[word].store(flag, order::release);
  }
}

/// Has every word of the message arrived? Nothing is consumed before this holds for the whole slice.
inline bool hasArrived(const uint8_t* slot, size_t bytes, uint64_t position) {
  const auto* words = reinterpret_cast<const Atomic<uint64_t>*>(slot);
  const uint32_t flag = flagOf(position);
  const size_t count = bytes == 0 ? 1 : (bytes + 3) / 4;
  for (size_t word = count; word-- > 0;) {
    if (static_cast<uint32_t>(words[word].load(order::acquire) >> 32) != flag) return false;
  }
  return true;
}

inline void unpack(uint8_t* payload, const uint8_t* slot, size_t bytes) {
  const auto* words = reinterpret_cast<const Atomic<uint64_t>*>(slot);
  for (size_t at = 0, word = 0; at < bytes; at += 4, ++word) {
    const auto data = static_cast<uint32_t>(words[word].load(order::relaxed));
    std::memcpy(payload + at, &data, bytes - at < 4 ? bytes - at : 4);
  }
}

}  // namespace ll

// LL128: lines of 120 bytes of data and an 8-byte flag. NCCL relies on 128-byte stores that arrive whole; here the flag
// is stored last with release and read first with acquire, which needs no such promise and costs nothing on x86.
namespace ll128 {

inline constexpr size_t kLine = 128;
inline constexpr size_t kData = 120;

DFCCL_HD inline Atomic<uint64_t>& flagAt(uint8_t* slot, size_t line) {
  return *reinterpret_cast<Atomic<uint64_t>*>(slot + line * kLine + kData);
}

inline void pack(uint8_t* slot, const uint8_t* payload, size_t bytes, uint64_t position) {
  size_t line = 0;
  for (size_t at = 0; at < bytes || line == 0; at += kData, ++line) {
    // A bare signal has no payload, not even an address of one.
    if (at < bytes) std::memcpy(slot + line * kLine, payload + at, bytes - at < kData ? bytes - at : kData);
    flagAt(slot, line).store(position + 1, order::release);
  }
}

inline bool hasArrived(uint8_t* slot, size_t bytes, uint64_t position) {
  const size_t lines = bytes == 0 ? 1 : (bytes + kData - 1) / kData;
  for (size_t line = lines; line-- > 0;) {
    if (flagAt(slot, line).load(order::acquire) != position + 1) return false;
  }
  return true;
}

inline void unpack(uint8_t* payload, const uint8_t* slot, size_t bytes) {
  for (size_t at = 0, line = 0; at < bytes; at += kData, ++line) {
    std::memcpy(payload + at, slot + line * kLine, bytes - at < kData ? bytes - at : kData);
  }
}

}  // namespace ll128
}  // namespace dfccl

#pragma once
// The default submission queue: one ring in host memory, filled by JavaScript and C threads, read by one leader.
//
//   byte 0              64              128             192             256            320
//        | tail          | head          | lock          | capacity      | start flags   | SqeMemory[capacity]
//          producers       leader          producers       constant        engine
//
// Positions count entries since creation and are never masked; the entry at position p lies in slot p % capacity.
//
//   slot      0   1   2   3   4   5   6   7         capacity 8, head 6, tail 11:
//           | 8 | 9 |10 | 3 | 4 | 5 | 6 | 7 |       slots 3-5 are free and still carry the last lap's sequences
//                     ^tail - 1       ^head
//
// JavaScript reads the low halves of head and tail only and extends them: they are never more than capacity apart.
#include <cstddef>
#include <cstdint>
#include <memory>

#include "queues/sqe_words.hpp"

namespace dfccl {

inline constexpr uint32_t kMaxSubmissionCapacity = 32768;  // a 16-bit sequence must not repeat within two laps

struct SubmissionRingHeader {
  alignas(64) Atomic<uint64_t> tail;          // next position to fill; producers, under the lock
  alignas(64) Atomic<uint64_t> head;          // next position to read; the leader
  alignas(64) Atomic<uint32_t> producerLock;  // 0 or the owner number of a producer; never held across user code
  alignas(64) Atomic<uint32_t> capacity;      // entries, a power of two; constant after create()
  alignas(64) Atomic<uint32_t> needStart;     // reserved for the engine: who is to start the daemon
  Atomic<uint32_t> waiters;                   // reserved for the engine: who is to be woken
};
#if !defined(DFCCL_RELACY)
static_assert(sizeof(SubmissionRingHeader) == 320);
static_assert(offsetof(SubmissionRingHeader, head) == 64);
static_assert(offsetof(SubmissionRingHeader, producerLock) == 128);
static_assert(offsetof(SubmissionRingHeader, capacity) == 192);
static_assert(offsetof(SubmissionRingHeader, needStart) == 256);
static_assert(offsetof(SubmissionRingHeader, waiters) == 260);
#endif

/// Plain handle: copy it into whoever produces or consumes. Owns nothing.
struct SubmissionRing {
  SubmissionRingHeader* header;
  SqeMemory* entries;
  uint32_t capacity;

  DFCCL_HD SqeMemory& slot(uint64_t position) const { return entries[position & (capacity - 1)]; }

  static constexpr size_t bytes(uint32_t capacity) {
    return sizeof(SubmissionRingHeader) + size_t{capacity} * sizeof(SqeMemory);
  }

  static constexpr bool isValidCapacity(uint32_t capacity) {
    return capacity != 0 && capacity <= kMaxSubmissionCapacity && (capacity & (capacity - 1)) == 0;
  }

  /// Makes an empty ring in `memory` (bytes(capacity) of it, 64-byte aligned) before anyone else sees it.
  /// @pre isValidCapacity(capacity).
  static SubmissionRing create(void* memory, uint32_t capacity, uint64_t firstPosition = 0) {
    auto* header = std::construct_at(static_cast<SubmissionRingHeader*>(memory));
    auto* entries = reinterpret_cast<SqeMemory*>(static_cast<std::byte*>(memory) + sizeof(SubmissionRingHeader));
    for (uint32_t i = 0; i < capacity; ++i) std::construct_at(&entries[i]);
    const SubmissionRing ring{header, entries, capacity};
    ring.reset(firstPosition);
    return ring;
  }

  /// A ring that somebody (perhaps JavaScript) made in this memory.
  static SubmissionRing attach(void* memory) {
    auto* header = static_cast<SubmissionRingHeader*>(memory);
    auto* entries = reinterpret_cast<SqeMemory*>(static_cast<std::byte*>(memory) + sizeof(SubmissionRingHeader));
    return {header, entries, header->capacity.load(order::relaxed)};
  }

  /// Empties the ring. Every word gets the sequence of the lap before, so that zeroed memory can't pass for position
  /// 65535, whose sequence is 0.
  /// @pre Nobody else uses the ring.
  void reset(uint64_t firstPosition) const {
    for (uint32_t i = 0; i < capacity; ++i) {
      const uint64_t position = firstPosition + i;
      for (auto& word : slot(position).words) word.store(sqeSequence(position - capacity), order::relaxed);
    }
    header->capacity.store(capacity, order::relaxed);
    header->producerLock.store(0, order::relaxed);
    header->needStart.store(0, order::relaxed);
    header->waiters.store(0, order::relaxed);
    header->head.store(firstPosition, order::relaxed);
    header->tail.store(firstPosition, order::relaxed);
  }
};

/// Memory-order edges of the ring. The verifier's controls weaken one at a time.
struct SubmissionOrders {
  static constexpr Order publishTail = order::release;  // R1 -> A1: whoever sees the tail sees the entries below it
  static constexpr Order readTail = order::acquire;     // A1
  static constexpr Order publishHead = order::release;  // R2 -> A2: a slot is refilled after the leader has read it
  static constexpr Order readHead = order::acquire;     // A2
  static constexpr Order unlock = order::release;       // R3 -> A3: the next producer sees the last one's tail
  static constexpr Order lock = order::acquire;         // A3
  static constexpr Order publishWord = order::release;  // R4 -> A4: as R1, by the entry's last word
  static constexpr Order readWord = order::acquire;     // A4
};

}  // namespace dfccl

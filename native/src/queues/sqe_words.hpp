#pragma once
// An SQE as eight payloads, and back. Both submission queues use it; packages/queues/src/sqe.ts is its twin.
#include "base/sqe.hpp"

namespace dfccl {

/// The sequence that every word of the entry at `position` carries, in place (bits 48-63).
constexpr uint64_t sqeSequence(uint64_t position) { return (position + 1) << kSqeSequenceShift; }

/// True if a word carries the sequence of `position`.
constexpr bool hasSqeSequence(uint64_t word, uint64_t position) {
  return (word & ~kSqePayloadMask) == sqeSequence(position);
}

/// @pre Addresses, run and count fit in 48 bits, flags in 16.
constexpr void packSqe(const Sqe& sqe, uint64_t position, uint64_t (&payload)[kSqeWords]) {
  payload[0] = uint64_t{sqe.id} | (uint64_t{sqe.flags & 0xffff} << 32);
  payload[1] = sqe.run & kSqePayloadMask;
  payload[2] = sqe.completionSlot;
  payload[3] = sqe.sendAddress & kSqePayloadMask;
  payload[4] = sqe.recvAddress & kSqePayloadMask;
  payload[5] = position & kSqePayloadMask;
  payload[6] = sqe.count & kSqePayloadMask;
  payload[7] = uint64_t{sqe.sendWindow} << 16 | uint64_t{sqe.recvWindow} << 32;
}

/// Sequence bits of the words are ignored.
constexpr Sqe unpackSqe(const uint64_t (&word)[kSqeWords]) {
  return Sqe{
      .id = static_cast<uint32_t>(word[0]),
      .flags = static_cast<uint32_t>(word[0] >> 32) & 0xffff,
      .run = word[1] & kSqePayloadMask,
      .completionSlot = static_cast<uint32_t>(word[2]),
      .sendAddress = word[3] & kSqePayloadMask,
      .recvAddress = word[4] & kSqePayloadMask,
      .count = word[6] & kSqePayloadMask,
      .sendWindow = static_cast<uint16_t>(word[7] >> 16),
      .recvWindow = static_cast<uint16_t>(word[7] >> 32),
  };
}

}  // namespace dfccl

#pragma once
// Submission and completion entries: the layout that JavaScript, C++ and a GPU share.
#include <cstdint>

#include "base/atomics.hpp"

namespace dfccl {

// A submission queue entry is 64 bytes: eight 64-bit words, each a 48-bit payload below a 16-bit sequence number (the
// position in the queue + 1, cut to 16 bits). An address fits in one payload, so none is ever split over two words. A
// producer stores the low half first and then, atomically, the high half with the sequence; a reader that polls the
// words themselves (a GPU across PCIe) takes the entry only when all eight carry the sequence it expects. A reader on
// the same CPU goes by the queue's tail instead. Capacity <= 32768, so a sequence never repeats within two laps.
//
//   word 0  collective id (32 bits) and flags (bits 32-47)
//   word 1  run number of that id on this rank (48 bits); of a run behind a stream: its number on the stream's line (32
//           bits) and the line (bits 32-47), see daemon/state/pending_runs.hpp
//   word 2  completion slot (32 bits)
//   word 3  send address (bytes)
//   word 4  receive address (bytes)
//   word 5  position of the entry in the queue (48 bits)
//   word 6  count of the run, of a collective whose runs bring theirs; or where its ring is, where runs may go through
//           rings (daemon/state/staging_ring.hpp); 48 bits; else not looked at
//   word 7  kSqeVoid: a producer died while it wrote the entry, and readers step over it; else bit 0 is clear, and the
//           windows of the send buffer (bits 16-31) and of the receive buffer (bits 32-47), 0 where they have none
inline constexpr int kSqeWords = 8;
inline constexpr uint64_t kSqePayloadMask = (uint64_t{1} << 48) - 1;
inline constexpr int kSqeSequenceShift = 48;

inline constexpr uint64_t kSqeVoid = 1;

// Flags of word 0, bits 32-47.
inline constexpr uint32_t kSqeExit = 1;          // the daemon leaves for good after this entry
inline constexpr uint32_t kSqeBehindStream = 2;  // the run begins once a stream has come to it: see pending_runs.hpp
inline constexpr uint32_t kSqeAfterControl = 4;  // the host had asked something of the daemon before: that comes first

struct alignas(64) SqeMemory {
  Atomic<uint64_t> words[kSqeWords];
};
#if !defined(DFCCL_RELACY)  // the verifier's atomics carry their history
static_assert(sizeof(SqeMemory) == 64);
#endif

struct Sqe {
  uint32_t id;
  uint32_t flags;
  uint64_t run;
  uint32_t completionSlot;
  uint64_t sendAddress;
  uint64_t recvAddress;
  uint64_t count = 0;       // elements of a segment, where the collective has a count per run; or the run's ring
  uint16_t sendWindow = 0;  // see daemon/state/windows.hpp
  uint16_t recvWindow = 0;
};

/// Of a run behind a stream.
constexpr uint64_t sqeRunOfLine(uint32_t line, uint32_t number) { return uint64_t{line} << 32 | number; }
constexpr uint32_t sqeLine(const Sqe& sqe) { return static_cast<uint32_t>(sqe.run >> 32); }
constexpr uint32_t sqeNumber(const Sqe& sqe) { return static_cast<uint32_t>(sqe.run); }

// A completion entry is one 64-bit word: the low half is the collective id, the high half is the status (bits 32-47,
// 0 = free, 1 = completed, 2 = aborted, 3 = counts differ) and the low 16 bits of the run number (bits 48-63).
enum class CqeStatus : uint16_t { free = 0, completed = 1, aborted = 2, mismatched = 3 };

constexpr uint64_t packCqe(uint32_t id, CqeStatus status, uint64_t run) {
  return uint64_t{id} | (uint64_t{static_cast<uint16_t>(status)} << 32) | ((run & 0xffff) << 48);
}

}  // namespace dfccl

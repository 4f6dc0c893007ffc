#pragma once
// Memory through which members that don't reach each other's buffers move a run, a few tiles at a time: so little that
// it stays in the caches, however long the buffers are.
//
// Each member has a ring of its own in memory that all reach, for as long as the run takes:
//
//   [ input chunk: [slot 0 | slot 1 | ...] ] for each chunk of its input | [slot 0 | slot 1 | ...] of what it reduces
//
// Tile t of a chunk lies in slot t % slots. A run goes through stages, tile by tile (movers/ring_moves.hpp), and every
// member tells how far it is in each of them.
#include <cstdint>

#include "base/atomics.hpp"
#include "daemon/state/bound_program.hpp"

namespace dfccl {

enum class RingStage : uint32_t {
  fill,    // a member copies its input into its ring
  reduce,  // ... reduces what is its part, into its output and its ring; only where others need that
  fetch,   // ... moves into its own output what is others', or its alone
};
inline constexpr uint32_t kRingStages = 3;

/// What a member has done of a stage, in tiles over all runs. Read by all members, written by its own daemon.
struct alignas(64) RingProgress {
  Atomic<uint64_t> tiles[kRingStages];
};

/// The program of a run through rings and how it is laid out there: the same on all members but for the own part.
struct RingPlan {
  const BoundProgram* program;  // its one block's first step reduces, if hasReduce; the others fetch
  uint32_t slots;
  uint32_t slotBytes;    // of one tile
  uint32_t inputChunks;  // that others read of this member's; 0: none
  uint32_t ownChunk;     // of them, one that nobody else reads, or kNone
  bool hasReduce;
  bool isFilledBefore;  // with all tiles, when the run is submitted: nobody fills it later

  DFCCL_HD uint64_t inputOffset(uint32_t chunk, uint32_t tile) const {
    return (uint64_t{chunk} * slots + tile % slots) * slotBytes;
  }
  /// Of what a member reduces. @param chunks of the program's input.
  DFCCL_HD uint64_t resultOffset(uint32_t chunks, uint32_t tile) const {
    return (uint64_t{chunks} * slots + tile % slots) * slotBytes;
  }
};

/// How a member names a buffer that others don't reach: by its ring.
namespace ring_names {

inline constexpr uint64_t kIsRing = uint64_t{1} << 47;  // no address that processes share has this bit

DFCCL_HD constexpr uint64_t named(uint64_t ring) { return ring | kIsRing; }
DFCCL_HD constexpr bool isRing(uint64_t name) { return (name & kIsRing) != 0; }
DFCCL_HD constexpr uint64_t ringOf(uint64_t name) { return name & ~kIsRing; }

}  // namespace ring_names

}  // namespace dfccl

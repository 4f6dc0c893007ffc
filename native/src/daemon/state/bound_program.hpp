#pragma once
// A program bound to a count and a data type: chunk indices have become byte ranges, so that the daemon only adds.
// Collectives of the same program, count and type share one.
#include <cstddef>
#include <cstdint>

#include "base/array.hpp"
#include "base/program.hpp"
#include "base/types.hpp"

namespace dfccl {

struct ChunkRange {
  uint64_t byteOffset;
  uint64_t elements;
};

/// How long a program's chunks are in buffers of `count` elements a segment, and how many tiles they are cut into.
struct ChunkSizes {
  uint64_t count;
  uint64_t chunkElements;  // of a full chunk
  uint64_t tileElements;
  uint32_t tiles;  // >= 1, also for an empty buffer
};

struct BoundRef {
  uint32_t rank;
  uint32_t buffer;  // BufferKind
  uint32_t chunk;
};

inline constexpr uint64_t kNeverTogether = uint64_t{1} << 48;  // a sum over all members doesn't wrap

/// What the daemon reads while it runs. Immutable once made; the memory of its tables is its maker's.
struct BoundProgram {
  ProgramHeader header;
  DataType type;
  uint64_t count;          // elements of a segment
  uint64_t chunkElements;  // of a full chunk
  uint64_t tileElements;
  uint32_t tiles;             // >= 1, also for an empty buffer
  uint64_t slotPayloadBytes;  // what a slot must be able to hold
  uint64_t scratchBytes;
  bool touchesPeers;          // some step of this rank's reads or writes another rank's buffers
  bool exchanges;             // its steps are exchanges (program.hpp): nobody touches another's buffers
  uint32_t landingSlotBytes;  // of an exchange: wire bytes of one tile, a multiple of 128
  uint64_t togetherBytes;     // what the steps move, where any rank could execute them; else kNeverTogether
  Array<const BlockRecord> blocks;
  Array<const ConnectionRecord> connections;
  Array<const StepRecord> steps;
  Array<const BoundRef> refs;
  Array<const DependencyRecord> dependencies;
  Array<const ChunkRange> chunks;  // user buffers: [chunk], the same formula for input and output

  /// Whether peers must know where this rank's buffers are.
  DFCCL_HD bool usesDirect() const { return (header.flags & kUsesDirect) != 0 && !exchanges; }
  /// Slots that each member has in a landing area, a chunk's tiles behind one another.
  DFCCL_HD uint64_t landingSlots() const { return exchanges ? chunks.size() * tiles : 0; }
  uint64_t landingBytes() const { return 2 * uint64_t{header.rankCount} * landingSlots() * landingSlotBytes; }
  DFCCL_HD size_t elementBytes() const { return sizeOf(type); }

  DFCCL_HD ChunkRange range(BufferKind buffer, uint32_t chunk) const {
    if (buffer == BufferKind::scratch) return {chunk * chunkElements * elementBytes(), chunkElements};
    return chunks[chunk];
  }
  /// Elements of tile `tile` of a chunk: empty beyond the chunk's end.
  DFCCL_HD uint64_t elementsOfTile(const ChunkRange& range, uint32_t tile) const {
    return elementsOfTile(range, tile, tileElements);
  }
  DFCCL_HD static uint64_t elementsOfTile(const ChunkRange& range, uint32_t tile, uint64_t tileElements) {
    const uint64_t begin = tile * tileElements;
    if (begin >= range.elements) return 0;
    const uint64_t left = range.elements - begin;
    return left < tileElements ? left : tileElements;
  }

  /// Of a run that brings its own count. Whatever holds a chunk or a tile of the program's holds one of these.
  /// @pre runCount <= count
  DFCCL_HD ChunkSizes sizesFor(uint64_t runCount) const {
    const uint64_t elements = (runCount + header.chunksPerSegment - 1) / header.chunksPerSegment;
    ChunkSizes sizes{runCount, elements, elements < tileElements ? elements : tileElements, 1};
    if (sizes.tileElements == 0) sizes.tileElements = 1;
    if (elements > sizes.tileElements) {
      sizes.tiles = static_cast<uint32_t>((elements + sizes.tileElements - 1) / sizes.tileElements);
    }
    return sizes;
  }
  DFCCL_HD ChunkRange range(BufferKind buffer, uint32_t chunk, const ChunkSizes& sizes) const {
    if (buffer == BufferKind::scratch) return {chunk * sizes.chunkElements * elementBytes(), sizes.chunkElements};
    const uint32_t segment = chunk / header.chunksPerSegment;
    const uint64_t from = (chunk - segment * header.chunksPerSegment) * sizes.chunkElements;
    const uint64_t begin = from < sizes.count ? from : sizes.count;
    const uint64_t left = sizes.count - begin;
    return {(segment * sizes.count + begin) * elementBytes(), left < sizes.chunkElements ? left : sizes.chunkElements};
  }
  size_t memoryBytes() const {
    return sizeof *this + blocks.size() * sizeof(BlockRecord) + connections.size() * sizeof(ConnectionRecord) +
           steps.size() * sizeof(StepRecord) + refs.size() * sizeof(BoundRef) +
           dependencies.size() * sizeof(DependencyRecord) + chunks.size() * sizeof(ChunkRange);
  }
};

}  // namespace dfccl

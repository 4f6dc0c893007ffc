#pragma once
// The binary form of one rank's program, as packages/primitives writes it (src/program-binary.ts). Little endian, every
// record 16-byte aligned. A test compares the offsets of both sides byte for byte.
//
//   ProgramHeader | BlockRecord[blockCount] | ConnectionRecord[connectionCount] | StepRecord[stepCount]
//   | ChunkRefRecord[refCount] | DependencyRecord[dependencyCount]
//
// Chunks. A buffer of S segments holds S * chunksPerSegment chunks. A segment has `count` elements (the count the
// collective was registered with); chunk c begins at element (c / C) * count + (c % C) * ceil(count / C) with
// C = chunksPerSegment, and is ceil(count / C) elements long, less at the end of its segment (possibly empty).
// all-reduce, reduce, broadcast, send/recv: 1 segment in, 1 out. all-gather, gather: 1 in, R out. reduce-scatter,
// scatter: R in, 1 out. all-to-all: R in, R out. barrier: 0 and 0. Scratch: scratchChunks chunks of ceil(count / C).
//
// Exchange. In a program of protocol LL without connections, every step is a multiReduceCopy of one chunk from every
// rank's input, in the order of the ranks, into this rank's output alone. No rank reads another's buffers then: each
// sends its part to all others, with flags in it, and reduces what it was sent.
//
// Loop. Every chunk is cut into tiles; the whole step list runs once for each tile index, so a step of `count` chunks
// moves tile t of each of its chunks, and takes exactly one slot of its connection a tile (even where it is empty).
// With kStepByStep, which only programs without connections and dependencies may have, each step runs for all tiles
// before the next one begins.
#include <cstdint>

namespace dfccl {

inline constexpr uint32_t kProgramMagic = 0x50434644;  // "DFCP"
inline constexpr uint32_t kProgramVersion = 1;
inline constexpr uint32_t kNone = 0xffffffff;

enum class Op : uint8_t {
  nop,                 // waits for its dependencies only
  send,                // connection <- src
  recv,                // dst <- connection
  copy,                // dst <- src
  reduce,              // dst <- dst (+) src, both local; operand order: dst, src
  recvCopySend,        // dst <- connection; connection <- the same
  recvReduceCopy,      // dst <- src (+) connection; operand order: src, received
  recvReduceSend,      // connection <- src (+) connection
  recvReduceCopySend,  // dst and connection <- src (+) connection
  multiReduceCopy,     // every destination ref <- reduce over source refs, in order; refs may be any rank's buffers
};
inline constexpr int kOpCount = 10;

enum class BufferKind : uint8_t { input, output, scratch, none };

// Flags of a step.
inline constexpr uint8_t kDirectSend =
    1;  // the sent payload is written to (remoteBuffer, remoteChunk) of the peer; the connection carries a flag only
inline constexpr uint8_t kDirectRecv =
    2;  // the received payload already lies in (landingBuffer, landingChunk) of this rank
inline constexpr uint8_t kFinish = 4;  // the reduced value is complete here: avg divides

// Flags of a program.
inline constexpr uint32_t kInPlace = 1;     // written for input and output being the same memory (as NCCL defines it)
inline constexpr uint32_t kUsesDirect = 2;  // some step touches another rank's buffers
inline constexpr uint32_t kOutOfPlace = 4;  // may run out of place. A program may carry both kInPlace and kOutOfPlace
inline constexpr uint32_t kStepByStep = 8;  // see "Loop"

struct ProgramHeader {
  uint32_t magic;
  uint32_t version;
  uint32_t totalBytes;
  uint32_t flags;
  uint32_t rankCount;
  uint32_t rank;
  uint32_t collective;  // Collective
  uint32_t protocol;    // Protocol (daemon/framing/protocols.hpp)
  uint32_t blockCount;
  uint32_t connectionCount;
  uint32_t stepCount;
  uint32_t refCount;
  uint32_t dependencyCount;
  uint32_t chunksPerSegment;
  uint32_t inputSegments;
  uint32_t outputSegments;
  uint32_t scratchChunks;
  uint32_t slotCount;     // slots of each connection that the verifier assumed
  uint32_t maxStepCount;  // largest `count` of a step of any rank that uses a slot payload: a slot holds so many tiles
  uint32_t root;          // kNone where the collective has none
  uint64_t digest;        // of the whole program (all ranks): equal on every rank or registration fails
  uint32_t reserved[2];
};
static_assert(sizeof(ProgramHeader) == 96);

struct BlockRecord {
  uint32_t firstStep;
  uint32_t stepCount;
  uint32_t reserved[2];
};
static_assert(sizeof(BlockRecord) == 16);

/// One end of a connection at this rank. A connection is (source rank, destination rank, channel); each end belongs to
/// exactly one block.
struct ConnectionRecord {
  uint32_t peer;
  uint32_t channel;
  uint32_t isSend;  // 1: this rank sends, 0: it receives
  uint32_t block;
};
static_assert(sizeof(ConnectionRecord) == 16);

struct StepRecord {
  uint8_t op;
  uint8_t flags;
  uint8_t srcBuffer;
  uint8_t dstBuffer;
  uint32_t srcChunk;
  uint32_t dstChunk;
  uint32_t count;           // chunks; 0 for a send or recv is a bare signal
  uint32_t sendConnection;  // index into the connection table, or kNone
  uint32_t recvConnection;
  uint8_t remoteBuffer;   // with kDirectSend
  uint8_t landingBuffer;  // with kDirectRecv
  uint16_t isAwaited;     // 1: another block depends on this step, so its progress is published
  uint32_t remoteChunk;
  uint32_t landingChunk;
  uint32_t firstRef;  // multiReduceCopy: sources, then destinations
  uint16_t sourceCount;
  uint16_t destinationCount;
  uint32_t firstDependency;
  uint32_t dependencyCount;
  uint32_t reserved[3];
};
static_assert(sizeof(StepRecord) == 64);

struct ChunkRefRecord {
  uint32_t rank;    // index within the collective's rank list
  uint32_t buffer;  // BufferKind
  uint32_t chunk;
  uint32_t reserved;
};
static_assert(sizeof(ChunkRefRecord) == 16);

/// The step of another block of the same rank that must have finished the same tile.
struct DependencyRecord {
  uint32_t block;
  uint32_t step;  // index within that block
  uint32_t reserved[2];
};
static_assert(sizeof(DependencyRecord) == 16);

}  // namespace dfccl

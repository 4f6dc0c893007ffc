#pragma once
// The host's submission queue as a GPU reads it: one warp of the leader's block polls it, an entry of 64 bytes a read,
// and stages what it finds in shared memory. So the leader never waits for the bus, and nobody else ever asks it.
#include "block/block_shared.cuh"
#include "posted.cuh"
#include "queues/sqe_words.hpp"

namespace dfccl::gpu {

/// The leader's end.
class StagedSubmissions {
 public:
  __device__ explicit StagedSubmissions(RankMemory& memory)
      : memory_(memory), position_(blockShared().launch.gate->head), released_(position_) {}

  __device__ bool peek(Sqe& out) {
    StagedEntries& staged = blockShared().staged;
    while (staged.filled.load(order::acquire) != position_) {
      const uint64_t(&words)[kSqeWords] = staged.words[position_ % kStagedEntries];
      if ((words[kSqeWords - 1] & kSqePayloadMask) != kSqeVoid) {
        out = unpackSqe(words);
        return true;
      }
      ++position_;  // a dead producer's
    }
    return false;
  }
  __device__ void pop() { ++position_; }
  /// Whether another entry is known to be behind those that were popped.
  __device__ bool hasMore() const { return blockShared().staged.filled.load(order::relaxed) != position_; }

  /// Relaxed: what was read of the entries has arrived, so a producer may overwrite them.
  __device__ void release() {
    if (released_ == position_) return;
    released_ = position_;
    blockShared().launch.gate->head = position_;
    blockShared().staged.taken.store(position_, order::release);
    memory_.submissions.header->head.store(position_, order::relaxed);
  }

 private:
  RankMemory& memory_;
  uint64_t position_;
  uint64_t released_;
};

/// Lines of streams on which runs are awaited, so many at a time.
__device__ inline void lookAtLines(uint32_t lines, uint32_t look, uint32_t& news) {
  constexpr uint32_t kAll = 0xffffffff;
  BlockShared& shared = blockShared();
  const uint32_t lane = threadIdx.x % 32;
  const uint32_t batches = (lines + 31) / 32;
  const uint32_t line = (batches == 1 ? 0 : look % batches * 32) + lane;
  bool isNew = false;
  if (line < lines) {
    const uint32_t arrived = shared.memory.get().pending.arrived[line].load(order::relaxed);
    isNew = arrived != shared.arrivedOn[line].load(order::relaxed);
    if (isNew) shared.arrivedOn[line].store(arrived, order::relaxed);
  }
  const uint32_t came = __ballot_sync(kAll, isNew);
  if (came == 0) return;
  __syncwarp();
  if (lane != 0) return;
  writeTrace(shared.pollerTrace, TracePoint::streamCame, line + __ffs(came) - 1);
  StagedEntries& staged = shared.staged;
  staged.arrivals.store(staged.arrivals.load(order::relaxed) + 1, order::relaxed);
  staged.news.store(++news, order::relaxed);
}

/// What the polling warp does until the daemon leaves.
__device__ inline void pollHostQueue() {
  constexpr uint32_t kAll = 0xffffffff;
  constexpr uint32_t kLooksPerControl = 64;
  constexpr uint32_t kLooksPerFacts = 8;
  constexpr uint32_t kLooksPerPost = 64;
  constexpr uint32_t kIsOver = 1, kHasRoom = 2, kLine = 4;  // of what one lane has seen
  BlockShared& shared = blockShared();
  StagedEntries& staged = shared.staged;
  RankMemory& memory = shared.memory.get();
  const uint32_t lane = threadIdx.x % 32;
  const uint32_t word = lane % kSqeWords;
  uint64_t position = staged.filled.load(order::relaxed);
  uint64_t posted = staged.completionsPosted.load(order::relaxed);
  uint32_t news = 0;
  uint32_t entries = 1;  // read at once; more while they come in quick succession
  for (uint32_t look = 0;; ++look) {
    const uint32_t mine = lane / kSqeWords;
    // The read across the bus is on its way before anything else is looked at, which then costs nothing.
    uint64_t value = 0;
    if (mine < entries) value = memory.submissions.slot(position + mine).words[word].load(order::relaxed);
    // What decides where the warp goes is what one lane has seen: one that had come too late to see what another saw
    // would meet the others in a later look's vote, and they would no more agree on the position.
    uint32_t seen = 0;
    if (lane == 0) {
      const bool hasRoom = position + entries - staged.taken.load(order::relaxed) <= kStagedEntries;
      seen = (staged.isOver.load(order::relaxed) != 0 ? kIsOver : 0) | (hasRoom ? kHasRoom : 0) |
             staged.awaitedLines.load(order::relaxed) * kLine;
    }
    seen = __shfl_sync(kAll, seen, 0);
    if ((seen & kIsOver) != 0) break;
    // What the look before read, which has come meanwhile.
    if (lane == 0) staged.completionsPosted.store(posted, order::relaxed);
    posted = memory.counters.completionsPosted.value.load(order::relaxed);
    const uint32_t lines = seen / kLine;
    if (lines != 0) lookAtLines(lines, look, news);
    if (look % kLooksPerControl == 0 && lane == 0) {
      staged.controlTail.store(memory.control.tail.load(order::relaxed), order::relaxed);
    }
    if (look % kLooksPerFacts == 0) {
      for (uint32_t b = lane; b < memory.limits.grid; b += 32) {
        staged.facts[b].store(memory.blocks[b].facts.load(order::relaxed), order::relaxed);
      }
    }
    if (look % kLooksPerPost == 0) postSome(look / kLooksPerPost);
    if ((seen & kHasRoom) == 0) continue;
    const uint32_t whole = __ballot_sync(kAll, mine < entries && hasSqeSequence(value, position + mine));
    uint32_t found = 0;
    while (found < entries && ((whole >> (found * kSqeWords)) & 0xff) == 0xff) ++found;
    if (found == 0) {
      entries = 1;
      continue;
    }
    // There is room, for all lanes: what was read of the entries that were there has arrived (StagedSubmissions).
    __threadfence_block();
    __syncwarp();
    if (mine < found) staged.words[(position + mine) % kStagedEntries][word] = value;
    position += found;
    __syncwarp();
    if (lane == 0) {
      staged.filled.store(position, order::release);
      staged.news.store(++news, order::relaxed);
      writeTrace(shared.pollerTrace, TracePoint::submissionSeen, position - 1);
    }
    entries = 4;
  }
  if (lane == 0) shared.pollerTrace.ring->count = shared.pollerTrace.count;
}

}  // namespace dfccl::gpu

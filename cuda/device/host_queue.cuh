#pragma once
// The host's submission queue as a GPU reads it: one warp of the leader's block polls it, an entry of 64 bytes a read,
// and stages what it finds in shared memory. So the leader never waits for the bus, and nobody else ever asks it.
#include "block_shared.cuh"
#include "dfccl/queues/sqe_words.hpp"

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

/// The host learns at once that the daemon knows of a stream that is about to wait: the leader may be at a large move.
__device__ DFCCL_COLD inline void tellWaits(uint32_t waits, uint64_t position) {
  StagedEntries& staged = blockShared().staged;
  staged.waits.store(staged.waits.load(order::relaxed) + waits, order::relaxed);
  __threadfence_block();
  if (staged.isLeaving.load(order::relaxed) == 0) {
    blockShared().launch.report->waitsSeen.store(position, order::relaxed);
  }
}

/// What the polling warp does until the daemon leaves.
__device__ inline void pollHostQueue() {
  constexpr uint32_t kAll = 0xffffffff;
  constexpr uint32_t kLooksPerControl = 64;
  constexpr uint32_t kLooksPerFacts = 8;
  BlockShared& shared = blockShared();
  StagedEntries& staged = shared.staged;
  RankMemory& memory = shared.memory.get();
  const uint32_t lane = threadIdx.x % 32;
  const uint32_t word = lane % kSqeWords;
  uint64_t position = staged.filled.load(order::relaxed);
  uint64_t posted = staged.completionsPosted.load(order::relaxed);
  uint64_t notices = staged.noticeTail.load(order::relaxed), toldNotices = notices;
  uint32_t news = 0;
  uint32_t entries = 1;  // read at once; more while they come in quick succession
  for (uint32_t look = 0; staged.isOver.load(order::relaxed) == 0; ++look) {
    const uint32_t mine = lane / kSqeWords;
    const bool hasRoom = position + entries - staged.taken.load(order::acquire) <= kStagedEntries;
    // The read across the bus is on its way before anything else is looked at, which then costs nothing.
    uint64_t value = 0;
    if (hasRoom && mine < entries) value = memory.submissions.slot(position + mine).words[word].load(order::relaxed);
    // What the look before read, which has come meanwhile.
    if (lane == 0) {
      staged.completionsPosted.store(posted, order::relaxed);
      if (notices != toldNotices) [[unlikely]] {
        toldNotices = notices;
        staged.noticeTail.store(notices, order::relaxed);
        staged.news.store(++news, order::relaxed);
      }
    }
    posted = memory.counters.completionsPosted.value.load(order::relaxed);
    notices = memory.pending.notices.header->tail.load(order::relaxed);
    if (look % kLooksPerControl == 0 && lane == 0) {
      staged.controlTail.store(memory.control.tail.load(order::relaxed), order::relaxed);
    }
    if (look % kLooksPerFacts == 0) {
      for (uint32_t b = lane; b < memory.limits.grid; b += 32) {
        staged.facts[b].store(memory.blocks[b].facts.load(order::relaxed), order::relaxed);
      }
    }
    if (!hasRoom) continue;
    const uint32_t whole = __ballot_sync(kAll, mine < entries && hasSqeSequence(value, position + mine));
    uint32_t found = 0;
    while (found < entries && ((whole >> (found * kSqeWords)) & 0xff) == 0xff) ++found;
    if (found == 0) {
      entries = 1;
      continue;
    }
    if (mine < found) staged.words[(position + mine) % kStagedEntries][word] = value;
    position += found;
    __syncwarp();
    if (lane == 0) {
      staged.filled.store(position, order::release);
      staged.news.store(++news, order::relaxed);
      writeTrace(shared.pollerTrace, TracePoint::submissionSeen, position - 1);
    }
    const uint32_t waits = __ballot_sync(kAll, mine < found && word == 0 && ((value >> 32) & kSqeAwait) != 0);
    if (waits != 0 && lane == 0) tellWaits(static_cast<uint32_t>(__popc(waits)), position);
    entries = 4;
  }
  if (lane == 0) shared.pollerTrace.ring->count = shared.pollerTrace.count;
}

}  // namespace dfccl::gpu

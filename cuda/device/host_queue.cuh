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

  /// For a daemon without tasks: waits a little for something to do. Its whole step takes long to say that there is
  /// nothing.
  __device__ static void awaitEntry() {
    constexpr int kLooks = 16;
    StagedEntries& staged = blockShared().staged;
    for (int look = 0; look < kLooks; ++look) {
      if (staged.filled.load(order::relaxed) != staged.taken.load(order::relaxed)) return;
    }
  }

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
  uint32_t entries = 1;  // read at once; more while they come in quick succession
  for (uint32_t look = 0; staged.isOver.load(order::relaxed) == 0; ++look) {
    if (look % kLooksPerControl == 0 && lane == 0) {
      staged.controlTail.store(memory.control.tail.load(order::relaxed), order::relaxed);
    }
    if (look % kLooksPerFacts == 0) {
      for (uint32_t b = lane; b < memory.limits.grid; b += 32) {
        staged.facts[b].store(memory.blocks[b].facts.load(order::relaxed), order::relaxed);
      }
    }
    if (position + entries - staged.taken.load(order::acquire) > kStagedEntries) continue;
    const uint32_t mine = lane / kSqeWords;
    uint64_t value = 0;
    if (mine < entries) value = memory.submissions.slot(position + mine).words[word].load(order::relaxed);
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
    if (lane == 0) staged.filled.store(position, order::release);
    entries = 4;
  }
}

}  // namespace dfccl::gpu

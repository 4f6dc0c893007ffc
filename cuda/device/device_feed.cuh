#pragma once
// What the leader tells the other blocks, through device memory: one line an entry, a sequence number in every word, so
// that one read tells whether the entry is there and what it says. A polling warp of each block stages what it finds in
// shared memory, as the leader's does with the host's queue.
#include "block/block_shared.cuh"
#include "daemon/state/block_feed.hpp"

namespace dfccl::gpu {

__device__ inline uint64_t feedWord(uint32_t payload, uint64_t position) {
  return payload | static_cast<uint64_t>(static_cast<uint32_t>(position + 1)) << 32;
}

/// The leader's end.
class DeviceFeedLeader {
 public:
  __device__ explicit DeviceFeedLeader(RankMemory& memory)
      : feed_(memory.feed), tail_(feed_.header->tail.load(order::relaxed)), slowest_(tail_ - feed_.capacity) {}

  /// Whether the slowest block has read so much that the next entry overwrites nothing.
  __device__ bool hasRoom() { return tail_ - slowest_ < feed_.capacity || findSlowest(); }

  __device__ bool tryPublish(const FeedEntry& entry) {
    if (!hasRoom()) return false;
    uint32_t payload[kFeedWords];
    static_assert(sizeof payload == sizeof entry);
    __builtin_memcpy(payload, &entry, sizeof entry);
    FeedLine& line = blockShared().launch.feedLines[tail_ & (feed_.capacity - 1)];
#pragma unroll
    for (uint32_t i = 0; i < kFeedWords; ++i) line.words[i].store(feedWord(payload[i], tail_), order::relaxed);
    ++tail_;
    feed_.header->tail.store(tail_, order::relaxed);  // for the next stay
    return true;
  }

 private:
  __device__ __noinline__ bool findSlowest() {
    uint64_t lag = 0;
    for (uint32_t i = 0; i < feed_.blockCount; ++i) {
      const uint64_t blockLag = tail_ - feed_.cursors[i].position.load(order::relaxed);
      if (blockLag > lag) lag = blockLag;
    }
    slowest_ = tail_ - lag;
    return lag < feed_.capacity;
  }

  const BlockFeed feed_;
  uint64_t tail_;
  uint64_t slowest_;  // no newer than the slowest block's position
};

/// Another block's end: what its polling warp has staged.
class DeviceFeedReader {
 public:
  __device__ DeviceFeedReader(RankMemory& memory, uint32_t block)
      : cursor_(memory.feed.cursors[feedReader(block)]), position_(blockShared().staged.taken.load(order::relaxed)) {}

  __device__ bool hasMore() const { return blockShared().staged.filled.load(order::relaxed) != position_; }

  __device__ bool peek(FeedEntry& out) const {
    const StagedEntries& staged = blockShared().staged;
    if (staged.filled.load(order::acquire) == position_) return false;
    uint32_t payload[kFeedWords];
    const uint64_t(&words)[kSqeWords] = staged.words[position_ % kStagedEntries];
    __builtin_memcpy(payload, words, sizeof payload);
    __builtin_memcpy(&out, payload, sizeof payload);
    return true;
  }
  __device__ void pop() {
    ++position_;
    blockShared().staged.taken.store(position_, order::release);
    // What was read has arrived, so the leader may overwrite it.
    cursor_.position.store(position_, order::relaxed);
  }
  __device__ bool take(FeedEntry& out) {
    if (!peek(out)) return false;
    pop();
    return true;
  }

 private:
  BroadcastCursor& cursor_;
  uint64_t position_;
};

/// What the polling warp of every block but the leader's does until the daemon leaves.
__device__ inline void pollFeed() {
  constexpr uint32_t kAll = 0xffffffff;
  constexpr uint32_t kAtOnce = 2;
  constexpr uint32_t kLanes = 32 / kAtOnce;
  constexpr uint32_t kWhole = (1u << kFeedWords) - 1;
  static_assert(kFeedWords <= kLanes && sizeof(FeedEntry) <= sizeof(uint64_t[kSqeWords]));
  BlockShared& shared = blockShared();
  StagedEntries& staged = shared.staged;
  const FeedLine* const lines = shared.launch.feedLines;
  const uint32_t mask = shared.memory.get().feed.capacity - 1;
  const uint32_t lane = threadIdx.x % 32;
  const uint32_t word = lane % kLanes;
  const uint32_t mine = lane / kLanes;
  uint64_t position = staged.filled.load(order::relaxed);
  // The same for all lanes, as in pollHostQueue().
  while (!__any_sync(kAll, staged.isOver.load(order::relaxed) != 0)) {
    if (__any_sync(kAll, position + kAtOnce - staged.taken.load(order::acquire) > kStagedEntries)) continue;
    uint64_t value = 0;
    if (word < kFeedWords) value = lines[(position + mine) & mask].words[word].load(order::relaxed);
    const bool isThere = word < kFeedWords && value >> 32 == feedWord(0, position + mine) >> 32;
    const uint32_t there = __ballot_sync(kAll, isThere);
    uint32_t found = 0;
    while (found < kAtOnce && ((there >> (found * kLanes)) & kWhole) == kWhole) ++found;
    if (found == 0) continue;
    if (mine < found && word < kFeedWords) {
      reinterpret_cast<uint32_t*>(staged.words[(position + mine) % kStagedEntries])[word] =
          static_cast<uint32_t>(value);
    }
    position += found;
    __syncwarp();
    if (lane == 0) staged.filled.store(position, order::release);
  }
}

}  // namespace dfccl::gpu

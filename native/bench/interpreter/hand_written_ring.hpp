#pragma once
// A ring all-reduce as one would write it by hand for one thread: no steps to decode, no slots to look up, no daemon.
// It moves the same tiles through slots of the same size with the same kernel as the program it is compared with.
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <vector>

#include "base/reduce_copy.hpp"

namespace dfccl::bench {

class HandWrittenRing {
 public:
  /// @param in, out One buffer a rank, of `count` floats.
  HandWrittenRing(const std::vector<float*>& in, const std::vector<float*>& out, size_t count)
      : ranks_(in.size()),
        chunk_((count + ranks_ - 1) / ranks_),
        tiles_((chunk_ + kTile - 1) / kTile),
        count_(count),
        in_(in),
        out_(out),
        connections_(ranks_) {}

  void run() {
    std::vector<Position> at(ranks_);
    for (size_t unfinished = ranks_; unfinished != 0;) {
      for (size_t rank = 0; rank < ranks_; ++rank) {
        if (at[rank].tile == tiles_) continue;
        while (at[rank].tile < tiles_ && step(rank, at[rank])) {
        }
        unfinished -= at[rank].tile == tiles_;
      }
    }
  }

 private:
  static constexpr size_t kSlots = 4, kTile = 32768 / sizeof(float);  // as in the protocol Simple

  struct Position {
    size_t tile = 0, hop = 0;
  };
  /// From a rank to the next one.
  struct Connection {
    float* slot(uint64_t message) { return slots.get() + message % kSlots * kTile; }
    alignas(64) std::atomic<uint64_t> sent{0};
    alignas(64) std::atomic<uint64_t> received{0};
    std::unique_ptr<float, decltype(&std::free)> slots{
        static_cast<float*>(std::aligned_alloc(4096, kSlots* kTile * sizeof(float))), &std::free};
  };

  /// One hop of one tile: reduce on the way to the chunk's last rank, then copy. False where it has to wait.
  bool step(size_t rank, Position& at) {
    const size_t lastReduce = ranks_ - 1, lastHop = 2 * ranks_ - 2;
    const bool receives = at.hop > 0, sends = at.hop < lastHop;
    Connection& from = connections_[(rank + ranks_ - 1) % ranks_];
    Connection& to = connections_[rank];
    const uint64_t received = from.received.load(std::memory_order_relaxed);
    const uint64_t sent = to.sent.load(std::memory_order_relaxed);
    if (receives && from.sent.load(std::memory_order_acquire) == received) return false;
    if (sends && sent - to.received.load(std::memory_order_acquire) == kSlots) return false;

    const size_t chunk = (rank + 2 * ranks_ - at.hop) % ranks_;
    const size_t begin = std::min(count_, chunk * chunk_ + at.tile * kTile);
    const size_t end = std::min({count_, (chunk + 1) * chunk_, begin + kTile});
    const void* sources[2];
    void* destinations[2];
    int sourceCount = 0, destinationCount = 0;
    if (receives) sources[sourceCount++] = from.slot(received);
    if (at.hop <= lastReduce) sources[sourceCount++] = in_[rank] + begin;
    if (at.hop >= lastReduce) destinations[destinationCount++] = out_[rank] + begin;
    if (sends) destinations[destinationCount++] = to.slot(sent);
    if (end > begin) {
      ReduceCopyArgs args{sources, sourceCount, destinations, destinationCount, end - begin};
      args.workingSetBytes = 2 * ranks_ * count_ * sizeof(float);
      reduceCopy(DataType::float32, ReduceOp::sum, args);
    }
    if (sends) to.sent.store(sent + 1, std::memory_order_release);
    if (receives) from.received.store(received + 1, std::memory_order_release);
    if (at.hop++ == lastHop) at = {at.tile + 1, 0};
    return true;
  }

  const size_t ranks_, chunk_, tiles_, count_;
  const std::vector<float*> in_, out_;
  std::vector<Connection> connections_;
};

}  // namespace dfccl::bench

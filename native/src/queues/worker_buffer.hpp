#pragma once
// A worker's own queue in front of the flip-flop: it goes on producing while the trainer is busy. Private to the
// worker, so nothing in it is shared. Its weakness is why TrainerRing exists: a worker that hangs in a read delivers
// nothing, although its queue is full of data.
#include <cstdint>

#include "queues/flip_flop.hpp"

namespace dfccl {

template <class Orders = FlipFlopOrders>
class WorkerBuffer {
 public:
  /// @param storage capacity words, this worker's alone. capacity is a power of two.
  WorkerBuffer(FlipFlop<Orders>& flipFlop, uint64_t* storage, uint32_t capacity)
      : flipFlop_(flipFlop), storage_(storage), capacity_(capacity) {}

  /// Hands over the oldest value that fits into the flip-flop and keeps the rest, in order.
  /// @return False: flip-flop and queue are full, `v` was not taken; try again.
  bool push(uint64_t v) {
    flush();
    if (size() == 0 && flipFlop_.tryAdd(v)) return true;
    if (size() == capacity_) return false;
    storage_[tail_++ & (capacity_ - 1)] = v;
    return true;
  }

  /// Hands over the oldest value if it fits. @return True if nothing is left in the queue.
  bool flush() {
    if (size() != 0 && flipFlop_.tryAdd(storage_[head_ & (capacity_ - 1)])) ++head_;
    return size() == 0;
  }

  uint32_t size() const { return tail_ - head_; }

 private:
  FlipFlop<Orders>& flipFlop_;
  uint64_t* storage_;
  uint32_t capacity_;
  uint32_t head_ = 0;
  uint32_t tail_ = 0;
};

}  // namespace dfccl

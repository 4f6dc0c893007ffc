#pragma once
// "Take two" of the slides: the buffer moves from the workers into the trainer, where a hanging worker can't lock it
// up. A ring of fixed size S, private to the trainer:
//
//   more than S/2 held:  look at the flip-flop once, then use the ring
//   at most S/2 held:    look twice, so that the ring grows by one, then use the ring
//
// Where the workers keep up it hovers at S/2, and a stall of S/2 batches is absorbed. The slides let the trainer wait
// for a first value whenever at most S/2 are held. It would then feel every stall at once, with S/2 values in its
// hands; here it waits only when it has nothing.
#include <cstdint>

#include "queues/flip_flop.hpp"

namespace dfccl {

/// Source: what the values come from, a FlipFlop as a rule; tryGet() gives 0 when it has none.
template <class Source = FlipFlop<>>
class TrainerRing {
 public:
  /// @param storage capacity words, this trainer's alone. capacity (S) is a power of two, at least 4.
  TrainerRing(Source& source, uint64_t* storage, uint32_t capacity)
      : source_(source), storage_(storage), capacity_(capacity) {}

  /// The oldest value. @return 0: nothing is held and the flip-flop is empty; the caller waits as it likes.
  uint64_t next() {
    const bool isLow = size() <= capacity_ / 2;
    fetch();
    if (isLow) fetch();
    return size() == 0 ? 0 : storage_[head_++ & (capacity_ - 1)];
  }

  uint32_t size() const { return tail_ - head_; }

 private:
  // Never overflows: next() fetches at most two at S/2 or one above, and uses one.
  void fetch() {
    const uint64_t v = source_.tryGet();
    if (v != 0) storage_[tail_++ & (capacity_ - 1)] = v;
  }

  Source& source_;
  uint64_t* storage_;
  uint32_t capacity_;
  uint32_t head_ = 0;
  uint32_t tail_ = 0;
};

}  // namespace dfccl

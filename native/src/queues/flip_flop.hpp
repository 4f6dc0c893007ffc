#pragma once
// N workers hand values to one trainer through a single word: 0 is empty, anything else is loaded. It merges the
// workers' streams into one, paces them to the trainer, and holds the trainer while there is nothing. After U.
// Finkler's "Rings and Things". Its first version lacks the barrier before the trainer's read; flip_flop's verifier
// runs that version too, and catches it.
#include <cstdint>

#include "base/atomics.hpp"

namespace dfccl {

struct FlipFlopOrders {
  static constexpr Order load = order::release;  // R1 -> A1: whoever takes the value sees what it points to
  static constexpr Order take = order::acquire;  // A1
};

template <class Orders = FlipFlopOrders>
struct alignas(64) FlipFlop {
  Atomic<uint64_t> value;  // 0 = empty; workers load it, the trainer empties it

  /// A worker's end; any number of them. @pre v != 0. @return False: still loaded.
  bool tryAdd(uint64_t v) {
    uint64_t empty = 0;
    return value.compareExchange(empty, v, Orders::load, order::relaxed);  // R1
  }

  /// The trainer's end; one at a time. @return 0 if it is empty.
  uint64_t tryGet() {
    // Looking first keeps the line shared while there is nothing, and leaves the workers' swaps alone.
    if (value.load(order::relaxed) == 0) return 0;
    return value.exchange(0, Orders::take);  // A1
  }

  /// Waits for a value. @param pause Called after each miss: the slides sleep 10 microseconds there, which leaves the
  /// core and the word to the workers.
  template <class Pause>
  uint64_t get(Pause&& pause) {
    for (;;) {
      const uint64_t v = tryGet();
      if (v != 0) return v;
      pause();
    }
  }
};

}  // namespace dfccl

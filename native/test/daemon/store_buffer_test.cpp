// Two threads that each store first and then look at what the other stored: the submitter and the daemon that leaves
// (residency.hpp), the submitter and the worker that falls asleep (worker_pool.hpp). On x86 a store waits in its
// thread's buffer while later loads go ahead; a sequentially consistent store empties the buffer first. Here every
// order of executing and draining is tried.
#include <doctest/doctest.h>

#include <array>

namespace {

enum class Store { release, seqCst };

struct Thread {
  int done = 0;             // 0: nothing, 1: has stored, 2: has looked
  bool isBuffered = false;  // its store is in the buffer, for others not to see
  bool sawOther = false;
};

struct State {
  std::array<Thread, 2> threads;
  std::array<bool, 2> memory{};  // [thread]: its store has reached memory
};

/// @return whether some order ends with neither thread having seen the other's store.
bool canMissEachOther(std::array<Store, 2> stores, State state = {}) {
  bool isOver = true;
  for (int t = 0; t < 2; ++t) {
    if (state.threads[t].isBuffered) {
      State drained = state;
      drained.threads[t].isBuffered = false;
      drained.memory[t] = true;
      if (canMissEachOther(stores, drained)) return true;
    }
    if (state.threads[t].done == 2) continue;
    isOver = false;
    State next = state;
    Thread& thread = next.threads[t];
    if (thread.done == 0) {
      (stores[t] == Store::seqCst ? next.memory[t] : thread.isBuffered) = true;
    } else {
      thread.sawOther = next.memory[1 - t];
    }
    ++thread.done;
    if (canMissEachOther(stores, next)) return true;
  }
  return isOver && !state.threads[0].sawOther && !state.threads[1].sawOther;
}

}  // namespace

TEST_CASE("two threads that store, then look, can't both miss the other, if both stores are sequentially consistent") {
  CHECK_FALSE(canMissEachOther({Store::seqCst, Store::seqCst}));
}

TEST_CASE("either store made a bare release store lets both miss") {
  CHECK(canMissEachOther({Store::release, Store::seqCst}));
  CHECK(canMissEachOther({Store::seqCst, Store::release}));
  CHECK(canMissEachOther({Store::release, Store::release}));
}

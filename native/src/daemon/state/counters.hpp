#pragma once
// Counters are part of the design and always on: one writer each, relaxed, so they cost a load and a store.
#include <cstdint>

#include "base/atomics.hpp"

namespace dfccl {

struct Counter {
  Atomic<uint64_t, Scope::device> value;
  DFCCL_HD void add(uint64_t n) { value.store(value.load(order::relaxed) + n, order::relaxed); }
  DFCCL_HD void raiseTo(uint64_t n) {
    if (n > value.load(order::relaxed)) value.store(n, order::relaxed);
  }
  DFCCL_HD uint64_t read() const { return value.load(order::relaxed); }
};

/// Of one block; written by whoever steps it. packages/core reads these words in this order (src/counters.ts).
struct alignas(64) BlockCounters {
  Counter visits;       // polls of a task's wait condition
  Counter stuckVisits;  // of them, those that found nothing
  Counter slices;       // visits that committed at least one slice
  Counter preemptions;  // turns that ended stuck while another task waited for its turn
  Counter contextLoads;
  Counter contextSaves;
  Counter tasksTaken;  // runs taken in
  Counter tasksCompleted;
  Counter queueLengthSum;  // over visits: sum / visits is the mean task-queue length
  Counter queueLengthMax;
  Counter bytesMoved;  // read and written by reduce-copy
  Counter reserved[5];
};
static_assert(sizeof(BlockCounters) == 128);

/// Of one rank.
struct alignas(64) RankCounters {
  Counter launches;  // starts of the daemon
  Counter quits;     // voluntary ones
  Counter submissionsTaken;
  Counter completionsPosted;  // several blocks write it: added to with fetchAdd
  Counter reserved[4];
};
static_assert(sizeof(RankCounters) == 64);

}  // namespace dfccl

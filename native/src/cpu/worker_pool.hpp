#pragma once
// Threads that step all ranks' blocks, and callers who step while they wait. Never more native threads than cores by
// default: a spinning thread too many starves the one that has work.
#include <cstdint>
#include <thread>
#include <vector>

#include "cpu/cpu_rank.hpp"

namespace dfccl {

class CpuWorld;

class WorkerPool {
 public:
  explicit WorkerPool(CpuWorld& world) : world_(world) {}
  ~WorkerPool() { stop(); }

  /// @throws Error dfcclSystemError if a thread can't be made; those made are stopped.
  void start(uint32_t threads);
  void stop();

  /// A caller steps every rank once, or every one that has work: those without need steps only to end their stay.
  bool help(bool stepsIdle = true);
  bool helpRank(uint32_t rank);
  /// The same, without what follows a step: for a caller who holds the world's lock. Callbacks come from others.
  bool stepRank(uint32_t rank);
  /// There are new entries in a submission queue. A thread that goes to sleep says so and then looks at the queues; a
  /// submitter stores its entry and then looks here: with both in one order over all threads, one sees the other.
  void ring() {
    if (sleepers_.load(order::seqCst) != 0) wake();
  }
  /// Something else has changed: also a thread that is about to sleep looks again.
  void wake();

  /// Addresses for JavaScript, which submits without a native call: it rings only if somebody sleeps.
  Atomic<uint32_t>& sleepers() { return sleepers_; }

 private:
  /// @param workers of the pool.
  void run(uint32_t firstRank, uint32_t workers);
  bool stepAll(CpuPlatform<>& platform, uint32_t first, bool stepsIdle);
  /// @param isLooking for what peers may send, so that their steps wake it.
  void sleep(uint32_t seenBell, bool isLooking, uint64_t& idleSince, uint32_t& naps);
  void wakeSleepers();
  void noteHelp();
  void watchNowAndThen();

  CpuWorld& world_;
  std::vector<std::thread> threads_;
  alignas(64) Atomic<uint32_t> ownBell_;
  Atomic<uint32_t>* bell_ = &ownBell_;  // where ranks are processes: the one in the segment, which others ring too
  Atomic<uint32_t> stopping_;
  alignas(64) Atomic<uint32_t> sleepers_;
  Atomic<uint64_t> lastWatch_;
  // Changes while a caller helps: a worker that races it on tiny work only slows it.
  alignas(64) Atomic<uint64_t> helps_;
};

}  // namespace dfccl

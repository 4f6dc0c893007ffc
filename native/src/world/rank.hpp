#pragma once
// One rank as the host sees it: its queues, its daemon, and the callbacks of its runs.
#include <cstdint>
#include <vector>

#include "cpu/cpu_platform.hpp"
#include "cpu/cpu_rank_memory.hpp"
#include "cpu/pause.hpp"
#include "dfccl/daemon/rank_daemon.hpp"
#include "dfccl/status.h"
#include "world/collective_spec.hpp"
#include "world/run_tally.hpp"

namespace dfccl {

using Platform = CpuPlatform<AllRules>;

/// Called on completion with the user's argument; `status` is dfcclSuccess or dfcclAborted.
using RunCallback = void (*)(void* argument, dfcclResult_t status);

class Rank {
 public:
  Rank(uint32_t number, const RankLimits& limits, const scheduling::SchedulePolicy& policy,
       const SharedTables& shared = {});

  uint32_t number() const { return memory_.rank; }
  RankMemory& memory() { return memory_; }
  const RankMemory& memory() const { return memory_; }
  RankDaemon<Platform>& daemon() { return daemon_; }

  static constexpr uint32_t kFull = kNoCompletionSlot;

  /// Queues one run. Any thread; nothing is waited for but the other submitters' few nanoseconds.
  /// @return The run's completion slot, or kFull: no entry or no slot is free now, nothing was queued.
  uint32_t submit(uint32_t index, const void* send, void* recv, RunCallback callback, void* argument);
  /// The entry after which the daemon leaves for good.
  bool submitExit();
  /// After that: the daemon has left, and won't come back before reopen().
  bool hasExited() const {
    return memory_.residency.exited.load(order::acquire) != 0 && memory_.residency.resident.load(order::seqCst) == 0;
  }
  /// @pre hasExited(), or the daemon was never told to exit.
  void reopen() { memory_.residency.exited.store(0, order::release); }

  /// Has the run that claimed `slot` completed? Frees the slot if so. For callers without a callback.
  bool takeCompletion(uint32_t slot, dfcclResult_t& status);
  /// Runs callbacks of what has completed, a bounded number of them, with no lock held: they may submit, deliver and
  /// step. @return how many; 0 also where another thread is at it.
  uint32_t deliver() { return hasUndelivered() ? deliverBatch() : 0; }
  /// Completions that nobody has taken yet.
  bool hasUndelivered() const {
    return memory_.counters.completionsPosted.value.load(order::seqCst) != taken_.load(order::relaxed);
  }
  /// Runs that are queued, or whose callback has not returned yet.
  uint64_t inFlight() const { return tally_.inFlight(); }
  /// True in a callback of this rank's.
  bool isDelivering() const;
  uint64_t issuedOf(uint32_t index) const { return issuedRuns_[index].load(order::relaxed); }
  void resetIssued(uint32_t index) { issuedRuns_[index].store(0, order::relaxed); }

  bool step(Platform& platform) { return daemon_.step(platform); }
  /// Entries that the daemon has not seen, or runs that it has not finished.
  bool hasWork() const { return daemon_.needsStart(); }

 private:
  uint32_t deliverBatch();

  struct Pending {
    RunCallback callback = nullptr;
    void* argument = nullptr;
    bool isWaited = false;  // somebody will call takeCompletion()
  };

  static constexpr uint32_t kDeliveryBatch = 32;
  static constexpr uint32_t kOwner = 1;  // of the queue's lock: all threads that submit here; JavaScript uses others

  CpuRankMemory memory_;
  RankDaemon<Platform> daemon_;
  EngineSubmissionProducer producer_;  // its fields, and what submit() writes, are guarded by the queue's lock
  CompletionOwnedSlots<>::Claimer claimer_;
  CompletionOwnedSlots<>::Poller poller_;
  TryLock pollLock_;
  std::vector<Pending> pending_;              // [completion slot]
  std::vector<Atomic<uint64_t>> issuedRuns_;  // [index], through this class
  RunTally tally_;
  Atomic<uint64_t> taken_;  // completions whose slot was freed; under pollLock_
  uint32_t cursor_ = 0;     // where the next scan for completions begins
};

}  // namespace dfccl

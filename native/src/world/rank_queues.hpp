#pragma once
// The host's ends of a rank's queues, whatever executes behind them: a daemon of this process or one on a GPU.
#include <cstdint>
#include <optional>
#include <vector>

#include "dfccl/daemon/rank_memory.hpp"
#include "dfccl/daemon/try_lock.hpp"
#include "dfccl/status.h"
#include "os/pause.hpp"
#include "world/run_tally.hpp"

namespace dfccl {

/// Called on completion with the user's argument; `status` is dfcclSuccess or dfcclAborted.
using RunCallback = void (*)(void* argument, dfcclResult_t status);

/// The windows that a run's buffers lie in (daemon/windows.hpp); 0: none, addresses mean the same to all members.
struct RunWindows {
  uint16_t send = 0;
  uint16_t recv = 0;
};

/// A stream's line and a run's number on it, see daemon/pending_runs.hpp.
struct PlaceOnLine {
  uint32_t line;
  uint32_t number;
};

class RankQueues {
 public:
  static constexpr uint32_t kFull = kNoCompletionSlot;

  /// @param memory whose queues these are. @param posted where the daemon counts what it has completed, if the host can
  /// read that as fast as its own memory; else nullptr.
  RankQueues(RankMemory& memory, const Atomic<uint64_t, Scope::device>* posted);
  RankQueues(const RankQueues&) = delete;
  RankQueues& operator=(const RankQueues&) = delete;

  /// Queues one run. Any thread; nothing is waited for but the other submitters' few nanoseconds.
  /// @param callback nullptr: somebody will call takeCompletion().
  /// @return The run's completion slot, or kFull: no entry or no slot is free now, nothing was queued.
  /// @param behind where the stream is that the run is to wait for; nothing: it waits for none.
  uint32_t submit(uint32_t index, const void* send, void* recv, RunCallback callback, void* argument,
                  RunWindows windows = {}, std::optional<PlaceOnLine> behind = std::nullopt);
  /// The entry after which the daemon leaves for good.
  bool submitExit();

  /// Has the run that claimed `slot` completed? Frees the slot if so. For callers without a callback.
  bool takeCompletion(uint32_t slot, dfcclResult_t& status);
  /// Runs callbacks of what has completed, a bounded number of them, with no lock held: they may submit, deliver and
  /// step. @return how many; 0 also where another thread is at it.
  uint32_t deliver() { return hasUndelivered() ? deliverBatch() : 0; }
  /// Completions that nobody has taken yet. Where the host can't tell: runs that may have completed.
  bool hasUndelivered() const {
    if (posted_ != nullptr) return posted_->load(order::seqCst) != taken_.load(order::relaxed);
    return hasClaimed();
  }
  /// Runs that JavaScript or this process's threads have queued, and whose completion nobody has taken.
  bool hasClaimed() const;
  /// Whether the completion of any run lies in its slot.
  bool hasPosted() const;
  /// JavaScript sleeps until a completion is posted. @return whether it did; it doesn't any more.
  bool takeSleeper();

  /// Runs that are queued, or whose callback has not returned yet.
  uint64_t inFlight() const { return tally_.inFlight(); }
  /// True in a callback of this rank's.
  bool isDelivering() const;
  /// Runs that have completed since the index was reset, whether somebody has taken that or not.
  uint64_t overOf(uint32_t index);
  uint64_t issuedOf(uint32_t index) const { return issuedRuns_[index].load(order::relaxed); }
  void resetIssued(uint32_t index) {
    issuedRuns_[index].store(0, order::relaxed);
    takenRuns_[index].store(0, order::relaxed);
  }

 private:
  uint32_t deliverBatch();
  void noteTaken(uint64_t cqe) {
    Atomic<uint64_t>& taken = takenRuns_[static_cast<uint32_t>(cqe)];
    taken.store(taken.load(order::relaxed) + 1, order::relaxed);
  }

  struct Pending {
    RunCallback callback = nullptr;
    void* argument = nullptr;
    bool isWaited = false;  // somebody will call takeCompletion()
  };

  static constexpr uint32_t kDeliveryBatch = 32;
  static constexpr uint32_t kOwner = 1;  // of the queue's lock: all threads that submit here; JavaScript uses others

  SubmissionRing submissions_;
  CompletionOwnedSlots<> completions_;
  const ControlRing& control_;
  const Atomic<uint64_t, Scope::device>* posted_;
  EngineSubmissionProducer producer_;  // its fields, and what submit() writes, are guarded by the queue's lock
  CompletionOwnedSlots<>::Claimer claimer_;
  CompletionOwnedSlots<>::Poller poller_;
  TryLock pollLock_;
  std::vector<Pending> pending_;              // [completion slot]
  std::vector<Atomic<uint64_t>> issuedRuns_;  // [index], through this class
  std::vector<Atomic<uint64_t>> takenRuns_;   // [index]: completions whose slot was freed here; under pollLock_
  RunTally tally_;
  Atomic<uint64_t> taken_;  // completions whose slot was freed; under pollLock_
  uint32_t cursor_ = 0;     // where the next scan for completions begins
};

}  // namespace dfccl

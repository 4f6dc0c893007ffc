#pragma once
// The host's ends of a rank's queues, whatever executes behind them: a daemon of this process or one on a GPU.
//
//   submit()  ->  [backlog]  ->  entry and slot  ->  daemon  ->  its slot  ->  [finished]  ->  callback
//
// Both lists in brackets are for those who submit more than there are slots (decision 27): a run is given to the daemon
// while shared slots are free, or if none of its id is there. So every daemon has the first unfinished run of every id
// that it was given, and whatever the orders of the ranks, some run is with all of its members.
#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>

#include "daemon/loop/try_lock.hpp"
#include "daemon/state/rank_memory.hpp"
#include "dfccl/status.h"
#include "os/pause.hpp"
#include "world/backlog.hpp"
#include "world/run_tally.hpp"
#include "world/runs_in_streams.hpp"

namespace dfccl {

/// The windows that a run's buffers lie in (daemon/state/windows.hpp); 0: none, addresses mean the same to all members.
struct RunWindows {
  uint16_t send = 0;
  uint16_t recv = 0;
  uint32_t renewals = 0;  // where it is asked for, see OwnWindows::renewals()
};

/// A stream's line and a run's number on it, see daemon/state/pending_runs.hpp.
struct PlaceOnLine {
  static constexpr uint32_t kNoLine = 0xffffffff;
  uint32_t line = kNoLine;  // of a run that waits for no stream
  uint32_t number = 0;
};

class RankQueues {
 public:
  static constexpr uint32_t kFull = kNoCompletionSlot;
  static constexpr uint32_t kNoMemory = kFull - 1;
  static constexpr uint32_t kWaits = kFull - 2;

  /// @param memory whose queues these are. @param posted where the daemon counts what it has completed, if the host can
  /// read that as fast as its own memory; else nullptr. @param ring wakes whoever steps or starts the daemon, if they
  /// sleep: after entries were written that no submitter stands behind.
  RankQueues(RankMemory& memory, const Atomic<uint64_t, Scope::device>* posted, std::function<void()> ring);
  RankQueues(const RankQueues&) = delete;
  RankQueues& operator=(const RankQueues&) = delete;

  /// Takes one run. Any thread; nothing is waited for but the other submitters' few nanoseconds.
  /// @param callback nullptr: somebody will call takeCompletion().
  /// @return The run's completion slot, or kWaits: it begins when its turn has come; it is as good as queued. Or
  /// nothing was taken, because there is no memory to keep it (kNoMemory), or no slot where none may wait (kFull):
  /// without a callback, and in worlds that keep the order of submission, where the next in order is the only one to
  /// begin.
  /// @param behind where the stream is that the run is to wait for; no line: it waits for none. (Not an optional: half
  /// of its word would be written, the whole be read, and each run pay 3 ns.)
  /// @param count of a run that brings its own.
  uint32_t submit(uint32_t index, const void* send, void* recv, RunCallback callback, void* argument,
                  RunWindows windows = {}, PlaceOnLine behind = {}, uint64_t count = 0);
  /// A run that is no daemon's is submitted: it is in inStreams() soon.
  void noteInStream(uint32_t index);
  RunsInStreams& inStreams() { return inStreams_; }
  static constexpr bool isTaken(uint32_t slot) { return slot <= kWaits; }
  /// The entry after which the daemon leaves for good.
  bool submitExit();

  /// Gives the daemon what waits, as far as there is room; takes completions off their slots if that makes room. Calls
  /// nothing of the user's. To be called whenever the daemon may have read entries, and where nothing else is to do.
  void flush() {
    if (waiting_.load(order::relaxed) != 0 && mayAdmit(1)) [[unlikely]]
      flushBacklog();
  }
  /// The same once there is room for many, since each time takes the queue's lock from who submits. Where something
  /// has moved, and flush() will be called when nothing does.
  void flushMany() {
    constexpr uint64_t kMany = 64;
    if (waiting_.load(order::relaxed) != 0 && mayAdmit(std::clamp<uint64_t>(sharedSlots_ / 4, 1, kMany))) [[unlikely]]
      flushBacklog();
  }
  /// Runs that the daemon hasn't been given yet.
  uint64_t waiting() const { return waiting_.load(order::relaxed); }

  /// Has the run that claimed `slot` completed? Frees the slot if so. For callers without a callback.
  bool takeCompletion(uint32_t slot, dfcclResult_t& status);
  /// Runs callbacks of what has completed, a bounded number of them, with no lock held: they may submit, deliver and
  /// step. @return how many; 0 also where another thread is at it.
  uint32_t deliver() {
    flush();
    return hasUndelivered() ? deliverBatch() : 0;
  }
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

  /// Runs that were submitted, and whose callback has not returned yet.
  uint64_t inFlight() const { return tally_.inFlight(); }
  /// True in a callback of this rank's.
  bool isDelivering() const;
  /// Runs that have completed since the index was reset, whether somebody has taken that or not.
  uint64_t overOf(uint32_t index);
  /// Runs that were submitted since then.
  uint64_t issuedOf(uint32_t index) const {
    return issuedRuns_[index].load(order::relaxed) - formerRuns_[index].load(order::relaxed);
  }
  /// Of them, those whose end nobody has taken yet.
  uint64_t undeliveredOf(uint32_t index) const {
    // In this order: what is taken was submitted before.
    const uint64_t taken = takenRuns_[index].load(order::acquire);
    return issuedRuns_[index].load(order::relaxed) - taken;
  }
  /// Another collective is given the index. @pre The former's runs are over. @param runs that this rank has had of it
  /// before, under another index.
  void resetIssued(uint32_t index, uint64_t runs) {
    formerRuns_[index].store(issuedRuns_[index].load(order::relaxed) - runs, order::relaxed);
  }

 private:
  struct Pending {
    RunCallback callback;
    void* argument;
    bool isWaited;  // somebody will call takeCompletion()
  };
  struct Finished {
    RunCallback callback;
    void* argument;
    dfcclResult_t status;
  };

  static constexpr uint32_t kDeliveryBatch = 32;

  // Under the submission queue's lock.
  void lockQueue();
  uint32_t write(uint32_t entry, Sqe sqe, RunCallback callback, void* argument);
  uint32_t submitBeyondSlots(const SubmittedRun& run, bool isLocked);
  void seeVacated(uint32_t index, uint32_t& entries);
  void admit(uint32_t& entries);
  bool admit(uint32_t index, uint32_t& entries);
  bool isIdle(uint32_t index) const;
  void noteWaiting();

  bool mayAdmit(uint64_t leastRoom) const;
  void flushBacklog();
  uint32_t deliverBatch();
  void lockPoll();
  // Under pollLock_.
  uint32_t takeFinished(Finished (&batch)[kDeliveryBatch]);
  void takeOffSlots();
  void noteFreed(uint64_t cqe);

  static constexpr uint32_t kOwner = 1;  // of the queue's lock: all threads that submit here; JavaScript uses others

  // What every run touches lies together, and what only those beyond the slots do is behind it.
  SubmissionRing submissions_;
  CompletionOwnedSlots<> completions_;
  const ControlRing& control_;
  const Atomic<uint64_t, Scope::device>* posted_;
  const uint32_t sharedSlots_;
  uint32_t limit_;                     // runs in flight below which one is admitted at once: 0 while others wait
  EngineSubmissionProducer producer_;  // its fields, and what submit() writes, are guarded by the queue's lock
  CompletionOwnedSlots<>::Claimer claimer_;
  ZeroedTable<Pending> pending_;              // [completion slot]
  ZeroedTable<Atomic<uint64_t>> issuedRuns_;  // [index], ever, through this class
  RunTally tally_;
  ZeroedTable<Atomic<uint64_t>> takenRuns_;  // [index], ever: runs whose slot was freed here; under pollLock_
  CompletionOwnedSlots<>::Poller poller_;
  Atomic<uint64_t> taken_;  // completions that were delivered; under pollLock_
  Atomic<uint64_t> finishedCount_;
  uint32_t cursor_ = 0;      // where the next scan for completions begins
  const bool keepsWaiting_;  // what exceeds the slots
  TryLock pollLock_;         // taken under the queue's lock or without; never the other way round

  // As many as backlog_ holds, for others to see: threads that start daemons look at it all the time, so it is not in a
  // line that every run writes to.
  Atomic<uint64_t> waiting_;
  const std::function<void()> ring_;
  // [index]: of the issued, those of former collectives; less those that this one had under another index. It may wrap.
  ZeroedTable<Atomic<uint64_t>> formerRuns_;
  Backlog backlog_;  // under the queue's lock
  RunsInStreams inStreams_;
  VacatedIds vacated_;             // while others wait: ids whose runs came to an end; under pollLock_
  std::deque<Finished> finished_;  // completions whose slot was freed before their callback was called; under pollLock_
};

}  // namespace dfccl

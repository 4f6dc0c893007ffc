#pragma once
#include <chrono>
#include <optional>
#include <string>
#include <torch/csrc/distributed/c10d/Work.hpp>
#include <vector>

#include "deadlines.hpp"
#include "errands.hpp"
#include "submission.hpp"

namespace dfccl_torch {

/// What an operation's results are: the list of each of the caller's output lists.
using Outputs = std::vector<std::vector<at::Tensor>>;

/// What the profiler shows of an operation, and what its errors begin with.
struct Label {
  c10d::OpType type;
  const char* title;  // "dfccl:" and the name that torch.distributed gives the operation
  const char* name() const { return title + sizeof "dfccl:" - 1; }
};

/// A submission that is waited for, asked, and heard of through a future.
///
/// On a GPU it's the current stream that waits, from when wait() is called, and the host goes on; a limit given to
/// wait() makes the host wait, and so does DFCCL_BLOCKING_WAIT=1. A future is complete when the runs are over, or at
/// once where it is asked for after wait() in the same stream: its callbacks, and whoever waits for it, are behind the
/// results in their streams. One that isn't complete in time fails, which gives nothing else up.
class DfcclWork final : public c10d::Work {
 public:
  /// @param timeout of a wait that names none; 0: never.
  /// @param source a kInt that tells the sender when the runs are over; undefined: the caller named it.
  DfcclWork(int rank, const Label& label, const std::vector<at::Tensor>& inputs, Outputs outputs, Submission submission,
            std::chrono::milliseconds timeout, uint64_t sequence, at::Tensor source = {});

  bool isCompleted() override;
  bool isSuccess() const override;
  /// Blocks the caller, but on a GPU. An error that tells of the timeout names the ranks that are missing, and gives
  /// nothing up: the work may be waited for again.
  bool wait(std::chrono::milliseconds timeout = kNoTimeout) override;
  /// Of a GPU: lets the current stream wait. On a CPU there is nothing that would have to.
  void synchronize() override;
  std::vector<at::Tensor> result() override;
  c10::intrusive_ptr<c10::ivalue::Future> getFuture() override;
  uint64_t getSequencenumber() const override { return sequence_; }
  /// Of what was received from any rank: the sender's place in the group. @pre it is over.
  int sourceRank() const override { return source_.defined() ? *source_.data_ptr<int>() : Work::sourceRank(); }

 private:
  using Lock = std::unique_lock<std::mutex>;
  class Turn;

  bool isOnGpu() const { return !device_.is_cpu(); }
  /// Of a graph: lets the current stream's capture go on behind it, once. For the host it is over then.
  void settleInGraph();
  void waitOnHost(std::chrono::milliseconds limit);
  /// @return false: the host has to.
  bool waitOnStream();
  /// The current stream is behind the results from now on. @pre completed_, and the lock is held
  void passResults();
  /// @pre this thread has the turn, and all runs are over.
  void settle(Submission::End end, const std::string& error);
  /// Runs the callbacks that are there by now: on the thread of errands, so one after the other.
  void tellFuture();
  /// @pre this thread has the turn, and the runs are kernels in a stream.
  void completeFutureInStream();
  c10::intrusive_ptr<c10::ivalue::Future> makeFuture() const;
  /// Once the current stream has been given the wait: the future is complete there. @return false: the host has to hear
  /// of the end, or has.
  bool makeFutureBehindWait(Lock& lock);
  /// @pre this thread has the turn.
  void watchForFuture();
  void endFromErrand();
  /// The future isn't complete in time: it gets an error that names who is missing.
  void failFuture();
  std::string timedOut(std::chrono::milliseconds limit, const std::string& missing) const;
  std::string othersHere(const std::string& missing) const;
  /// A sentence, with the space before it.
  std::string whereIssued() const;

  const Label label_;
  const Outputs outputs_;
  const std::chrono::milliseconds timeout_;
  const uint64_t sequence_;
  const at::Tensor source_;
  const void* const group_;  // which it is, no more
  const std::string groupName_;
  const std::shared_ptr<const Positions> positions_;  // of what is matched by its place alone
  const int worldRank_;                               // with positions_
  const c10::Device device_;
  const SourceLine issuedAt_;
  const bool isCaptured_;  // part of a graph: there is nothing for the host to wait for, but streams of its capture may
  const bool isOrdered_;   // its future's callbacks, among others
  const std::optional<c10::Stream> kernelStream_;
  /// Whose the submission is for the moment: under the base's mutex_, and announced through its cv_.
  bool isTaken_ = false;
  std::optional<c10::Stream> waitedIn_;  // the last that was given the wait
  bool isWatched_ = false;
  bool isFutureTold_ = false;
  std::optional<Submission> submission_;
  /// Once submission_ is gone: behind this the results are where they belong; null: they are.
  std::shared_ptr<const StreamMark> placed_;
  c10::intrusive_ptr<c10::ivalue::Future> future_;
  std::optional<Deadline> deadline_;
  std::optional<ErrandPlace> place_;  // where the future is told; none of one that was complete when it was asked for
};

}  // namespace dfccl_torch

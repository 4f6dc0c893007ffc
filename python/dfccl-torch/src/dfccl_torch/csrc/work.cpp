#include "work.hpp"

#include <c10/util/Exception.h>

#include <algorithm>
#include <cstdlib>

#include "device_stream.hpp"
#include "error.hpp"
#include "tag.hpp"
#include "work_turn.hpp"

namespace dfccl_torch {
namespace {

/// DFCCL_BLOCKING_WAIT=1: as TORCH_NCCL_BLOCKING_WAIT, for looking at what a rank waits for.
bool waitsBlock() {
  static const bool block = [] {
    const char* const value = std::getenv("DFCCL_BLOCKING_WAIT");
    return value != nullptr && std::string(value) == "1";
  }();
  return block;
}

/// Whether callbacks of what the thread issues now come in the order in which their futures were asked for, as they do
/// with NCCL, so that ranks that ask alike may issue from callbacks what is matched by its order. Messages may have to
/// pass each other, and so may what has a tag.
bool isOrdered(c10d::OpType type) {
  switch (type) {
    case c10d::OpType::SEND:
    case c10d::OpType::RECV:
    case c10d::OpType::RECVANYSOURCE:
    case c10d::OpType::BARRIER:
      return false;
    default:
      return currentTag() == 0;
  }
}

bool hasPosition(c10d::OpType type) {
  const bool isMessage =
      type == c10d::OpType::SEND || type == c10d::OpType::RECV || type == c10d::OpType::RECVANYSOURCE;
  return matchesByPosition() && !isMessage && !isPartOfAnother();
}

}  // namespace

DfcclWork::DfcclWork(int rank, const Label& label, const std::vector<at::Tensor>& inputs, Outputs outputs,
                     Submission submission, std::chrono::milliseconds timeout, uint64_t sequence, at::Tensor source)
    : Work(rank, label.type, label.title, inputs),
      label_(label),
      outputs_(std::move(outputs)),
      timeout_(timeout),
      sequence_(sequence),
      source_(std::move(source)),
      group_(&submission.group()),
      groupName_(submission.group().name()),
      positions_(hasPosition(label.type) ? submission.group().positions() : nullptr),
      worldRank_(positions_ ? submission.group().worldRank() : -1),
      device_(submission.device()),
      issuedAt_(submission.source()),
      isCaptured_(submission.isCaptured()),
      isOrdered_(isOrdered(label.type)),
      kernelStream_(submission.kernelStream()),
      submission_(std::move(submission)) {}

void DfcclWork::settleInGraph() {
  if (!submission_) return;
  submission_->settleInGraph();
  std::string error;
  const Submission::End end = submission_->poll(error);
  settle(end, error);
}

bool DfcclWork::isCompleted() {
  if (isCaptured_) return true;
  Lock lock(mutex_);
  if (completed_ || isTaken_) return completed_;
  {
    const Turn turn(*this, lock);
    std::string error;
    const Submission::End end = submission_->poll(error);
    if (end != Submission::End::pending) settle(end, error);
  }
  return completed_;
}

bool DfcclWork::isSuccess() const {
  const std::lock_guard lock(mutex_);
  return completed_ && !exception_;
}

bool DfcclWork::wait(std::chrono::milliseconds timeout) {
  if (timeout < kNoTimeout) timeout = std::chrono::milliseconds(1);  // what a deadline that has passed leaves
  const bool mayStreamWait = isCaptured_ || (isOnGpu() && timeout == kNoTimeout && !waitsBlock());
  if (mayStreamWait && waitOnStream()) return true;
  waitOnHost(timeout == kNoTimeout ? timeout_ : timeout);
  return true;
}

void DfcclWork::synchronize() {
  if (isOnGpu() && !waitOnStream()) waitOnHost(timeout_);
}

bool DfcclWork::waitOnStream() {
  if (isCaptured_) settleInGraph();
  Lock lock(mutex_);
  cv_.wait(lock, [&] { return completed_ || !isTaken_; });
  if (completed_) {
    passResults();
    return true;
  }
  bool isGiven = false;
  {
    const Turn turn(*this, lock);
    isGiven = submission_->waitOnStream();
  }
  if (isGiven) waitedIn_ = currentStream(device_);
  return isGiven;
}

void DfcclWork::passResults() {
  if (exception_) std::rethrow_exception(exception_);
  if (placed_) placed_->event.block(currentStream(device_));
}

void DfcclWork::waitOnHost(std::chrono::milliseconds limit) {
  const std::optional<Clock::time_point> end = endOf(limit);
  Lock lock(mutex_);
  while (!completed_) {
    std::string missing = "another thread waits for it too";
    if (!isTaken_) {
      const Turn turn(*this, lock);
      const Submission::End reached = submission_->wait(end, missing);
      if (reached != Submission::End::pending) settle(reached, missing);
    } else if (end) {
      cv_.wait_until(lock, *end, [&] { return completed_ || !isTaken_; });
    } else {
      cv_.wait(lock, [&] { return completed_ || !isTaken_; });
    }
    if (!completed_ && end && Clock::now() >= *end) {
      lock.unlock();
      C10_THROW_ERROR(DistBackendError, timedOut(limit, missing));
    }
  }
  passResults();
}

std::vector<at::Tensor> DfcclWork::result() {
  std::vector<at::Tensor> all;
  for (const auto& list : outputs_) all.insert(all.end(), list.begin(), list.end());
  return all;
}

void DfcclWork::settle(Submission::End end, const std::string& error) {
  std::exception_ptr failure;
  try {
    submission_->finish(end);
  } catch (...) {
    failure = std::current_exception();
  }
  placed_ = submission_->placed();
  if (end == Submission::End::aborted) {
    failure = distributedError("dfccl, " + std::string(label_.name()) + " in group " + groupName_ + ": " + error +
                               whereIssued());
  }
  finish(failure);
  submission_.reset();
  Lock lock(mutex_);
  if (kernelStream_) {
    lock.unlock();
    return tellFuture();
  }
  if (!place_) return;  // nobody has asked for the future, or it has been told to whoever did
  auto self = c10::intrusive_ptr<DfcclWork>::unsafe_reclaim_from_nonowning(this);
  place_->fill([self] { self->tellFuture(); });
}

}  // namespace dfccl_torch

#pragma once
#include <ATen/ATen.h>
#include <dfccl/dfccl.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "group.hpp"

namespace dfccl_torch {

/// The runs that one operation of torch.distributed has queued, with the tensors that they read and write. May be
/// dropped while they are in flight: they go on, their results are put where they belong, and the tensors stay until
/// then. Used by one thread at a time.
class Submission {
 public:
  Submission(std::shared_ptr<Group> group, const char* name);
  ~Submission();
  Submission(Submission&& other) noexcept;
  Submission(const Submission&) = delete;
  Submission& operator=(const Submission&) = delete;
  Submission& operator=(Submission&&) = delete;

  const Group& group() const { return *group_; }

  /// @return the tensor's elements, one behind the other: its own memory, or a copy's.
  at::Tensor read(const at::Tensor& tensor);
  /// The same, of a tensor that is written as well, or alone; a copy is copied back in the end.
  at::Tensor update(const at::Tensor& tensor);
  at::Tensor write(const at::Tensor& tensor);
  /// Keeps the tensor until the end.
  at::Tensor keep(at::Tensor tensor);
  /// What is to be done once all runs are over.
  void finally(std::function<void()> act) { lastly_.push_back(std::move(act)); }
  /// `queue` is one call of the C API, without the request.
  void add(const std::function<dfcclResult_t(dfcclRequest_t*)>& queue);

  enum class End { pending, complete, aborted };
  /// Works on what isn't over, and gives requests back that are. @param error gets why, where the end is aborted.
  End poll(std::string& error);
  /// @param timeoutMicros 0: never. @return pending when time is up; `error` says then who is missing.
  End wait(uint64_t timeoutMicros, std::string& error);
  /// Calls back once, on any thread and with no lock held, when all runs are over. To be called once.
  void notify(std::function<void()> callback);
  /// Puts the results where they belong, and lets everything go. @pre complete or aborted
  void finish(End end);

 private:
  struct Countdown;

  std::shared_ptr<Group> group_;
  std::string name_;
  std::vector<dfcclRequest_t> requests_;
  std::vector<at::Tensor> kept_;
  std::vector<std::function<void()>> lastly_;
  bool isAborted_ = false;
  std::string abortReason_;
};

}  // namespace dfccl_torch

#pragma once
#include <ATen/ATen.h>
#include <c10/util/FunctionRef.h>
#include <dfccl/dfccl.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "deadlines.hpp"
#include "device_stream.hpp"
#include "group.hpp"
#include "outstanding.hpp"

namespace dfccl_torch {

/// Parameters and inference tensors included, of which autograd allows no change.
void copyInto(const at::Tensor& target, const at::Tensor& source);

/// The runs that one operation of torch.distributed has queued, with the tensors that they read and write. May be
/// dropped while they are in flight: they go on, their results are put where they belong, and the tensors stay until
/// then, or until the stream that they came from waits. Used by one thread at a time.
///
/// On a GPU they begin behind the stream that was the thread's current one when the submission was made; and what puts
/// the results where they belong is queued in the stream that is current when somebody waits, or asks.
///
/// Of a group whose runs are kernels in streams, they are in that current stream, or in the group's own.
class Submission {
 public:
  /// @param name a literal: what the operation is called.
  /// @param isInOwnStream of a group with a stream of its own: whether runs are in that.
  Submission(std::shared_ptr<Group> group, c10::Device device, const char* name, bool isInOwnStream = false);
  ~Submission();
  Submission(Submission&& other) noexcept;
  Submission(const Submission&) = delete;
  Submission& operator=(const Submission&) = delete;
  Submission& operator=(Submission&&) = delete;

  Group& group() const { return *group_; }
  c10::Device device() const { return device_; }
  /// What the runs are given as the stream behind which they begin; null on a CPU.
  dfcclStream_t stream() const;

  /// @return the tensor's elements, one behind the other: its own memory, or a copy's. @throws DistBackendError as
  /// checkForNan().
  at::Tensor read(const at::Tensor& tensor);
  /// The same, of a tensor that is written as well, or alone; a copy is copied back in the end.
  at::Tensor update(const at::Tensor& tensor);
  at::Tensor write(const at::Tensor& tensor);
  /// Keeps the tensor until the end, or until the stream that the submission was made in waits for it.
  at::Tensor keep(at::Tensor tensor);
  /// What is to be done once all runs are over. @param touched what it reads and writes.
  void finally(std::vector<at::Tensor> touched, std::function<void()> act);
  /// `queue` is one call of the C API, without the request. @throws DistBackendError
  void add(c10::function_ref<dfcclResult_t(dfcclRequest_t*)> queue);

  enum class End { pending, complete, aborted };
  /// Works on what isn't over, and gives requests back that are. @param error gets why, where the end is aborted.
  End poll(std::string& error);
  /// @param end nullopt: never. @return pending when time is up; `error` says then who is missing.
  End wait(std::optional<Clock::time_point> end, std::string& error);
  /// Of a GPU: lets this thread's current stream go on only when all runs are over and the results are where they
  /// belong; the caller goes on at once. @return false: a run is none that a stream can wait for.
  bool waitOnStream();
  /// Where the runs are kernels in a stream: that. Behind what it has been given by now, they are over.
  const std::optional<c10::Stream>& kernelStream() const { return kernels_; }
  /// Of all that the runs read and write, and that is kept.
  std::vector<c10::weak_intrusive_ptr<c10::StorageImpl>> storages() const;
  /// Whether the runs are part of a graph that the stream captures.
  bool isCaptured() const;
  /// Lets the capture go on behind them, and marks the place where their results are where they belong.
  /// @pre isCaptured()
  void settleInGraph();
  /// Calls back once, on any thread and with no lock held, when all runs are over. To be called once.
  void notify(std::function<void()> callback);
  /// Puts the results where they belong, and lets everything go. @pre complete or aborted
  void finish(End end);
  /// Of a GPU, when finished, and moved out: behind this the results are where they belong; null: they are in any case.
  const std::shared_ptr<const StreamMark>& placed() const { return placed_; }
  /// Where its runs were issued. @pre it isn't finished.
  SourceLine source() const { return outstanding_ ? outstanding_->source() : SourceLine(); }

 private:
  friend class Together;
  struct Countdown;
  struct Act {
    std::vector<at::Tensor> touched;
    std::function<void()> act;
  };

  void place();
  void passKernels(const c10::Stream& stream);
  void followIssuer();

  std::shared_ptr<Group> group_;
  c10::Device device_;
  std::optional<c10::Stream> issuedOn_;
  std::optional<c10::Stream> kernels_;
  const char* name_;
  std::vector<dfcclRequest_t> requests_;
  std::unique_ptr<Outstanding> outstanding_;  // once there are
  std::vector<at::Tensor> kept_;
  std::vector<Act> lastly_;
  std::shared_ptr<const StreamMark> ended_;  // where kernels_ is another stream than issuedOn_
  std::shared_ptr<const StreamMark> placed_;
  bool hasFollowed_ = false;
  bool isAborted_ = false;
  bool isTogether_ = false;  // what is added becomes part of a batch, which has one request
  std::string abortReason_;
};

}  // namespace dfccl_torch

#pragma once
#include <c10/core/DeviceGuard.h>

#include <chrono>
#include <string>
#include <vector>

#include "backend.hpp"
#include "elements.hpp"
#include "submission.hpp"
#include "work.hpp"

namespace dfccl_torch {

/// Where the operation is that is given these tensors.
inline c10::Device deviceOf(const std::vector<at::Tensor>& tensors) {
  return tensors.empty() ? c10::Device(c10::kCPU) : tensors.front().device();
}

/// One call of torch.distributed on its way to becoming a work.
class DfcclBackend::Operation {
 public:
  /// @param device where all its tensors are. @param options with the timeout, below 0: the group's.
  /// @throws DistBackendError as Group::tellGivenUp().
  template <class Options>
  Operation(DfcclBackend& backend, const Label& label, c10::Device device, const Options& options)
      : Operation(backend, label, device, options.timeout, options.asyncOp) {}
  /// Of a message: `tag` is the caller's.
  Operation(DfcclBackend& backend, const Label& label, c10::Device device, int tag);

  Submission& submission() { return submission_; }
  dfcclGroup_t group() const { return submission_.group().handle(); }
  dfcclStream_t stream() const { return submission_.stream(); }
  /// @param distinction of what is moved, or reduced: Elements, Reduction. 0: the rest of the signature tells all.
  uint64_t tag(uint64_t distinction) const;
  std::chrono::milliseconds timeout() const { return timeout_; }
  uint64_t sequence() const { return sequence_; }
  int size() const { return backend_.getSize(); }
  bool isAt(int64_t rank) const { return backend_.getRank() == rank; }

  /// @throws DistBackendError where the tensor is on another device than the operation's, or is sparse.
  const Tensor& checked(const Tensor& tensor) const;
  /// The only tensor of the list: a process has one of each rank.
  Tensor& only(Tensors& tensors) const;
  /// @throws DistBackendError where `isTrue` isn't. @param what the operation takes.
  void require(bool isTrue, const char* what) const;
  /// As many as the group has ranks, and of one type.
  void checkList(const Tensors& tensors, at::ScalarType type) const;

  /// @param queue one call of the C API, without the request.
  void add(c10::function_ref<dfcclResult_t(dfcclRequest_t*)> queue) { submission_.add(queue); }
  Handle start(Outputs outputs, const Tensors& inputs);
  /// @param source a kInt that tells the sender when the work is over.
  Handle startFromAny(const Tensor& source, Tensors& outputs);
  /// A work that is complete already, while what was queued goes on; only the group's end waits for it.
  Handle startBuffered(const Tensors& inputs, int peer);

 private:
  Operation(DfcclBackend& backend, const Label& label, c10::Device device, std::chrono::milliseconds timeout,
            bool isAsync);
  /// With the operation's name before `what`.
  [[noreturn]] void refuseIt(const std::string& what, const std::string& remedy = "") const;

  DfcclBackend& backend_;
  const c10::DeviceGuard guard_;
  const Label label_;
  const std::chrono::milliseconds timeout_;
  const uint64_t sequence_;
  const uint64_t tag_;
  const uint64_t number_;  // of the message's tag, or of the place that tag_ is of
  Submission submission_;
};

}  // namespace dfccl_torch

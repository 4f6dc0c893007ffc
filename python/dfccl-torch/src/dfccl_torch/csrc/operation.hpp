#pragma once
#include <chrono>
#include <string>
#include <vector>

#include "backend.hpp"
#include "elements.hpp"
#include "submission.hpp"
#include "work.hpp"

namespace dfccl_torch {

/// One call of torch.distributed on its way to becoming a work.
class DfcclBackend::Operation {
 public:
  /// @param timeout below 0: the group's.
  Operation(DfcclBackend& backend, const Label& label, std::chrono::milliseconds timeout);
  /// Of a message: `tag` is the caller's.
  Operation(DfcclBackend& backend, const Label& label, int tag);

  Submission& submission() { return submission_; }
  dfcclGroup_t group() const { return backend_.group_->handle(); }
  uint64_t tag() const { return tag_; }
  int size() const { return backend_.getSize(); }
  bool isAt(int64_t rank) const { return backend_.getRank() == rank; }

  /// @throws DistBackendError where the tensor isn't one of a CPU's, or is sparse.
  const Tensor& checked(const Tensor& tensor) const;
  /// The only tensor of the list: a process has one of each rank.
  Tensor& only(Tensors& tensors) const;
  /// @throws DistBackendError where `isTrue` isn't.
  void require(bool isTrue, const std::string& what) const;
  /// As many as the group has ranks, and of one type.
  void checkList(const Tensors& tensors, at::ScalarType type) const;

  /// @param queue one call of the C API, without the request.
  template <class Queue>
  void add(const Queue& queue) {
    submission_.add(queue);
  }
  Handle start(Outputs outputs, const Tensors& inputs);

 private:
  DfcclBackend& backend_;
  const Label label_;
  const std::chrono::milliseconds timeout_;
  const uint64_t sequence_;
  const uint64_t tag_;
  Submission submission_;
};

}  // namespace dfccl_torch

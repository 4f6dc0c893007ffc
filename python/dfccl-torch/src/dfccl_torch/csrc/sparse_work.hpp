#pragma once
#include <condition_variable>
#include <mutex>
#include <optional>
#include <torch/csrc/distributed/c10d/Work.hpp>
#include <vector>

#include "backend.hpp"
#include "deadlines.hpp"

namespace dfccl_torch {

/// A sum of sparse tensors on its way: when all ranks know how many elements each has, these are gathered, on all ranks
/// whether somebody waits or not, and added up in the order of the ranks, so alike on all of them.
class SparseWork final : public c10d::Work {
 public:
  struct Sum {
    at::Tensor target;   // gets the sum in the end
    at::Tensor indices;  // of its elements, an element a row
    at::Tensor values;
    bool isAverage = false;
    uint64_t tag = 0;                     // of this one alone
    std::chrono::milliseconds timeout{};  // of a wait that names none, and of the future; 0: never
  };

  SparseWork(c10::intrusive_ptr<DfcclBackend> backend, Sum sum);
  /// @pre an intrusive pointer holds it.
  void begin();

  /// Blocks the caller. @throws DistBackendError where time is up, which names who is missing; it may be waited for
  /// again.
  bool wait(std::chrono::milliseconds timeout = kNoTimeout) override;
  void synchronize() override {}
  std::vector<at::Tensor> result() override { return {sum_.target}; }
  c10::intrusive_ptr<c10::ivalue::Future> getFuture() override { return future_; }

 private:
  using Work = c10::intrusive_ptr<c10d::Work>;

  template <class Next>
  void then(const Work& work, const Next& next);
  void gather();
  void add();
  void end(std::exception_ptr failure);
  void failFuture();
  bool mayTell();

  const c10::intrusive_ptr<DfcclBackend> backend_;
  const Sum sum_;
  const at::Tensor counts_;  // of each rank's elements
  const c10::intrusive_ptr<c10::ivalue::Future> future_;
  std::optional<Deadline> deadline_;
  bool isFutureTold_ = false;  // under the base's mutex_
  Work counted_;
  Work gathered_;  // under the base's mutex_, and announced through its cv_
  std::vector<std::vector<at::Tensor>> parts_;
};

}  // namespace dfccl_torch

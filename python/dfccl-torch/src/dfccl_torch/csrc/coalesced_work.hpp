#pragma once
#include <torch/csrc/distributed/c10d/Work.hpp>
#include <vector>

namespace dfccl_torch {

/// Several works that are waited for as one.
class CoalescedWork final : public c10d::Work {
 public:
  using Parts = std::vector<c10::intrusive_ptr<c10d::Work>>;

  CoalescedWork(int rank, Parts parts) : Work(rank, c10d::OpType::COALESCED), parts_(std::move(parts)) {}

  bool isCompleted() override;
  bool isSuccess() const override;
  std::exception_ptr exception() const override;
  bool wait(std::chrono::milliseconds timeout = kNoTimeout) override;
  void synchronize() override;
  std::vector<at::Tensor> result() override;
  c10::intrusive_ptr<c10::ivalue::Future> getFuture() override;

 private:
  const Parts parts_;
};

}  // namespace dfccl_torch

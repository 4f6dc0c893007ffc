#pragma once
#include <memory>
#include <torch/csrc/distributed/c10d/Work.hpp>

#include "any_source.hpp"

namespace dfccl_torch {

/// A receive that is over when something has come from whichever rank. It has no future: nobody would be told.
class AnySourceWork final : public c10d::Work {
 public:
  /// @param timeout of a wait that names none; 0: never.
  AnySourceWork(int rank, std::shared_ptr<AnySource> source, const AnySource::Key& key, at::Tensor tensor,
                std::chrono::milliseconds timeout, uint64_t sequence);

  bool isCompleted() override;
  bool isSuccess() const override;
  /// The place in the group of whoever has sent it. @pre it is over.
  int sourceRank() const override { return source_; }
  /// Blocks the caller. @throws DistBackendError where time is up; it may be waited for again.
  bool wait(std::chrono::milliseconds timeout = kNoTimeout) override;
  void synchronize() override {}
  std::vector<at::Tensor> result() override { return {tensor_}; }
  uint64_t getSequencenumber() const override { return sequence_; }

 private:
  const std::shared_ptr<AnySource> arrivals_;
  const AnySource::Key key_;
  const at::Tensor tensor_;
  const std::chrono::milliseconds timeout_;
  const uint64_t sequence_;
  std::mutex looking_;
  int source_ = -1;
};

}  // namespace dfccl_torch

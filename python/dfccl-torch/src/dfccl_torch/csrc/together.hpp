#pragma once
#include "error.hpp"
#include "submission.hpp"

namespace dfccl_torch {

/// What is added to a submission while this lives is queued by submit(), as one: where something of it is refused
/// before, nothing has begun.
class Together {
 public:
  explicit Together(Submission& submission) : submission_(submission) {
    check(dfcclBatchBegin(), "beginning a batch");
    submission_.isTogether_ = true;
  }
  ~Together() {
    if (!submission_.isTogether_) return;
    submission_.isTogether_ = false;
    dfcclBatchCancel();
  }
  Together(const Together&) = delete;
  Together& operator=(const Together&) = delete;

  void submit() {
    submission_.followIssuer();
    submission_.isTogether_ = false;
    submission_.add(dfcclBatchEnd);
  }

 private:
  Submission& submission_;
};

}  // namespace dfccl_torch

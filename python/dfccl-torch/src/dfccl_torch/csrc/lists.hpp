#pragma once
#include <ATen/ATen.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "elements.hpp"
#include "submission.hpp"

// Lists of tensors that go, or come, one behind the other in one.
namespace dfccl_torch {

/// A copy of all their elements.
at::Tensor flat(const std::vector<at::Tensor>& tensors);
int64_t elementsOf(const std::vector<at::Tensor>& tensors);
bool haveOneSize(const std::vector<at::Tensor>& tensors);
/// Of dfccl's elements, for each tensor.
std::vector<size_t> countsOf(const std::vector<at::Tensor>& tensors, const Elements& elements);
/// Once all is over, `source` is spread over the list.
void spreadInTheEnd(Submission& submission, const at::Tensor& source, const std::vector<at::Tensor>& targets);

}  // namespace dfccl_torch

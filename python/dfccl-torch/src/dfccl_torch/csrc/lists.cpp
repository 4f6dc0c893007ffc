#include "lists.hpp"

#include <ATen/core/LegacyTypeDispatch.h>

namespace dfccl_torch {

at::Tensor flat(const std::vector<at::Tensor>& tensors) {
  std::vector<at::Tensor> rows;
  for (const at::Tensor& tensor : tensors) rows.push_back(tensor.detach().reshape({-1}));
  return at::cat(rows);
}

int64_t elementsOf(const std::vector<at::Tensor>& tensors) {
  int64_t sum = 0;
  for (const at::Tensor& tensor : tensors) sum += tensor.numel();
  return sum;
}

bool haveOneSize(const std::vector<at::Tensor>& tensors) {
  for (const at::Tensor& tensor : tensors) {
    if (tensor.numel() != tensors.front().numel()) return false;
  }
  return true;
}

std::vector<size_t> countsOf(const std::vector<at::Tensor>& tensors, const Elements& elements) {
  std::vector<size_t> counts;
  for (const at::Tensor& tensor : tensors) counts.push_back(elements.countOf(tensor));
  return counts;
}

void spreadInTheEnd(Submission& submission, const at::Tensor& source, const std::vector<at::Tensor>& targets) {
  std::vector<at::Tensor> touched = targets;
  touched.push_back(source);
  submission.finally(std::move(touched), [source, targets] {
    int64_t offset = 0;
    for (const at::Tensor& target : targets) {
      copyInto(target, source.narrow(0, offset, target.numel()).view(target.sizes()));
      offset += target.numel();
    }
  });
}

}  // namespace dfccl_torch

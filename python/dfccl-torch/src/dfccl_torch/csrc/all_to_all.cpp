// A rank knows its own sizes alone, and others' may be uneven where its own aren't: always the uneven form, so that
// all ranks' calls are of one signature.
#include <numeric>

#include "backend.hpp"
#include "lists.hpp"
#include "operation.hpp"

namespace dfccl_torch {
namespace {

constexpr Label kAllToAll{c10d::OpType::ALLTOALL, "dfccl:all_to_all"};
constexpr Label kAllToAllBase{c10d::OpType::ALLTOALL_BASE, "dfccl:all_to_all"};

/// Into how many of dfccl's elements for each rank splits of the first dimension cut the tensor; none: evenly.
std::vector<size_t> splitCounts(const at::Tensor& tensor, const std::vector<int64_t>& splits, size_t ranks,
                                const Elements& elements) {
  if (splits.empty()) return std::vector<size_t>(ranks, elements.countOf(tensor) / ranks);
  const int64_t rows = tensor.size(0);
  const size_t perRow = rows == 0 ? 0 : elements.countOf(tensor) / static_cast<size_t>(rows);
  std::vector<size_t> counts;
  for (const int64_t split : splits) counts.push_back(static_cast<size_t>(split) * perRow);
  return counts;
}

}  // namespace

DfcclBackend::Handle DfcclBackend::alltoall_base(Tensor& output, Tensor& input, std::vector<int64_t>& outputSplits,
                                                 std::vector<int64_t>& inputSplits,
                                                 const c10d::AllToAllOptions& options) {
  Operation operation(*this, kAllToAllBase, input.device(), options);
  Submission& submission = operation.submission();
  operation.require(operation.checked(output).scalar_type() == operation.checked(input).scalar_type(),
                    "takes input and output of one type.");
  const auto checkSplits = [&](const Tensor& tensor, const std::vector<int64_t>& splits) {
    const int64_t rows = tensor.dim() == 0 ? 1 : tensor.size(0);
    if (splits.empty()) {
      operation.require(rows % operation.size() == 0,
                        "without splits takes tensors whose first dimension the group's size divides.");
      return;
    }
    operation.require(static_cast<int>(splits.size()) == operation.size(), "takes a split for each rank.");
    operation.require(std::accumulate(splits.begin(), splits.end(), int64_t{0}) == rows,
                      "takes splits that add up to the tensor's first dimension.");
  };
  checkSplits(input, inputSplits);
  checkSplits(output, outputSplits);
  const auto ranks = static_cast<size_t>(operation.size());
  const Elements elements = movedElements(input.scalar_type());
  const std::vector<size_t> sendCounts = splitCounts(input, inputSplits, ranks, elements);
  const std::vector<size_t> recvCounts = splitCounts(output, outputSplits, ranks, elements);
  const Tensor from = submission.read(input);
  const Tensor to = submission.write(output);
  operation.add([&](dfcclRequest_t* request) {
    return dfcclAllToAllV(from.data_ptr(), sendCounts.data(), nullptr, to.data_ptr(), recvCounts.data(), nullptr,
                          elements.type, operation.group(), operation.tag(elements.distinction), operation.stream(),
                          request);
  });
  return operation.start({{output}}, {input});
}

DfcclBackend::Handle DfcclBackend::alltoall(Tensors& outputs, Tensors& inputs, const c10d::AllToAllOptions& options) {
  Operation operation(*this, kAllToAll, deviceOf(inputs), options);
  Submission& submission = operation.submission();
  operation.require(!inputs.empty(), "takes a tensor for each rank.");
  operation.checkList(inputs, inputs.front().scalar_type());
  operation.checkList(outputs, inputs.front().scalar_type());
  const Elements elements = movedElements(inputs.front().scalar_type());
  const std::vector<size_t> sendCounts = countsOf(inputs, elements);
  const std::vector<size_t> recvCounts = countsOf(outputs, elements);
  const Tensor from = submission.read(flat(inputs));
  const Tensor to = submission.keep(at::empty({elementsOf(outputs)}, from.options()));
  operation.add([&](dfcclRequest_t* request) {
    return dfcclAllToAllV(from.data_ptr(), sendCounts.data(), nullptr, to.data_ptr(), recvCounts.data(), nullptr,
                          elements.type, operation.group(), operation.tag(elements.distinction), operation.stream(),
                          request);
  });
  spreadInTheEnd(submission, to, outputs);
  return operation.start({outputs}, inputs);
}

}  // namespace dfccl_torch

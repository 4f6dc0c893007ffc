#include <c10/util/irange.h>

#include "backend.hpp"
#include "lists.hpp"
#include "operation.hpp"
#include "together.hpp"

namespace dfccl_torch {
namespace {

constexpr Label kBroadcast{c10d::OpType::BROADCAST, "dfccl:broadcast"};
constexpr Label kAllGather{c10d::OpType::ALLGATHER, "dfccl:all_gather"};
constexpr Label kAllGatherBase{c10d::OpType::_ALLGATHER_BASE, "dfccl:_all_gather_base"};
constexpr Label kAllGatherCoalesced{c10d::OpType::ALLGATHER_COALESCED, "dfccl:all_gather"};
constexpr Label kGather{c10d::OpType::GATHER, "dfccl:gather"};
constexpr Label kScatter{c10d::OpType::SCATTER, "dfccl:scatter"};

}  // namespace

DfcclBackend::Handle DfcclBackend::broadcast(Tensors& tensors, const c10d::BroadcastOptions& options) {
  Operation operation(*this, kBroadcast, deviceOf(tensors), options);
  Submission& submission = operation.submission();
  const Tensor& tensor = operation.only(tensors);
  const Elements elements = movedElements(tensor.scalar_type());
  const Tensor dense = operation.isAt(options.rootRank) ? submission.read(tensor) : submission.write(tensor);
  operation.add([&](dfcclRequest_t* request) {
    return dfcclBroadcast(memoryOf(dense), memoryOf(dense), elements.countOf(dense), elements.type,
                          static_cast<int>(options.rootRank), operation.group(), operation.tag(elements.distinction),
                          operation.stream(), request);
  });
  return operation.start({tensors}, tensors);
}

void DfcclBackend::addAllGather(Operation& operation, Tensors& outputs, const Tensor& tensor) {
  Submission& submission = operation.submission();
  operation.checkList(outputs, operation.checked(tensor).scalar_type());
  operation.require(outputs[static_cast<size_t>(getRank())].numel() == tensor.numel(),
                    "takes an output for this rank that is as large as its input.");
  const Elements elements = movedElements(tensor.scalar_type());
  const Tensor input = submission.read(tensor);
  const Tensor row = submission.keep(at::empty({elementsOf(outputs)}, input.options()));
  // Every rank knows all sizes, so that all choose the same.
  if (haveOneSize(outputs)) {
    operation.add([&](dfcclRequest_t* request) {
      return dfcclAllGather(memoryOf(input), memoryOf(row), elements.countOf(input), elements.type, operation.group(),
                            operation.tag(elements.distinction), operation.stream(), request);
    });
  } else {
    const std::vector<size_t> counts = countsOf(outputs, elements);
    operation.add([&](dfcclRequest_t* request) {
      return dfcclAllGatherV(memoryOf(input), memoryOf(row), counts.data(), nullptr, elements.type, operation.group(),
                             operation.tag(elements.distinction), operation.stream(), request);
    });
  }
  spreadInTheEnd(submission, row, outputs);
}

void DfcclBackend::addAllGather(Operation& operation, Tensor& output, const Tensor& tensor) {
  Submission& submission = operation.submission();
  operation.require(operation.checked(output).scalar_type() == operation.checked(tensor).scalar_type(),
                    "takes input and output of one type.");
  operation.require(output.numel() == tensor.numel() * operation.size(),
                    "takes an output of as many elements as all inputs have.");
  const Elements elements = movedElements(tensor.scalar_type());
  const Tensor input = submission.read(tensor);
  const Tensor result = submission.write(output);
  operation.add([&](dfcclRequest_t* request) {
    return dfcclAllGather(memoryOf(input), memoryOf(result), elements.countOf(input), elements.type, operation.group(),
                          operation.tag(elements.distinction), operation.stream(), request);
  });
}

DfcclBackend::Handle DfcclBackend::allgather(std::vector<Tensors>& outputs, Tensors& inputs,
                                             const c10d::AllgatherOptions& options) {
  Operation operation(*this, kAllGather, deviceOf(inputs), options);
  const Tensor& input = operation.only(inputs);
  operation.require(outputs.size() == 1, "takes one list of outputs.");
  addAllGather(operation, outputs.front(), input);
  return operation.start(outputs, inputs);
}

DfcclBackend::Handle DfcclBackend::_allgather_base(Tensor& output, Tensor& input,
                                                   const c10d::AllgatherOptions& options) {
  Operation operation(*this, kAllGatherBase, output.device(), options);
  addAllGather(operation, output, input);
  return operation.start({{output}}, {input});
}

/// The outputs are a list for each rank, with a tensor for each input.
DfcclBackend::Handle DfcclBackend::allgather_coalesced(std::vector<Tensors>& outputs, Tensors& inputs,
                                                       const c10d::AllgatherOptions& options) {
  Operation operation(*this, kAllGatherCoalesced, deviceOf(inputs), options);
  operation.require(static_cast<int>(outputs.size()) == operation.size(), "takes a list of outputs for each rank.");
  for (const Tensors& list : outputs) {
    operation.require(list.size() == inputs.size(), "takes as many outputs for each rank as there are inputs.");
  }
  Together together(operation.submission());
  for (const auto i : c10::irange(inputs.size())) {
    Tensors ofInput;
    for (const Tensors& list : outputs) ofInput.push_back(list[i]);
    addAllGather(operation, ofInput, inputs[i]);
  }
  together.submit();
  return operation.start(outputs, inputs);
}

DfcclBackend::Handle DfcclBackend::allgather_into_tensor_coalesced(Tensors& outputs, Tensors& inputs,
                                                                   const c10d::AllgatherOptions& options) {
  Operation operation(*this, kAllGatherCoalesced, deviceOf(inputs), options);
  operation.require(outputs.size() == inputs.size(), "takes as many outputs as inputs.");
  Together together(operation.submission());
  for (const auto i : c10::irange(outputs.size())) addAllGather(operation, outputs[i], inputs[i]);
  together.submit();
  return operation.start({outputs}, inputs);
}

DfcclBackend::Handle DfcclBackend::gather(std::vector<Tensors>& outputs, Tensors& inputs,
                                          const c10d::GatherOptions& options) {
  Operation operation(*this, kGather, deviceOf(inputs), options);
  Submission& submission = operation.submission();
  const Tensor& tensor = operation.only(inputs);
  const bool isRoot = operation.isAt(options.rootRank);
  operation.require(outputs.size() == (isRoot ? 1U : 0U), "takes a list of outputs at the root, and none elsewhere.");
  const Elements elements = movedElements(tensor.scalar_type());
  const Tensor input = submission.read(tensor);
  Tensor row;
  if (isRoot) {
    operation.checkList(outputs.front(), tensor.scalar_type());
    for (const Tensor& output : outputs.front()) {
      operation.require(output.numel() == tensor.numel(), "takes outputs as large as the input.");
    }
    row = submission.keep(at::empty({elementsOf(outputs.front())}, input.options()));
  }
  operation.add([&](dfcclRequest_t* request) {
    return dfcclGather(memoryOf(input), memoryOf(row), elements.countOf(input), elements.type,
                       static_cast<int>(options.rootRank), operation.group(), operation.tag(elements.distinction),
                       operation.stream(), request);
  });
  if (isRoot) spreadInTheEnd(submission, row, outputs.front());
  return operation.start(outputs, inputs);
}

DfcclBackend::Handle DfcclBackend::scatter(Tensors& outputs, std::vector<Tensors>& inputs,
                                           const c10d::ScatterOptions& options) {
  Operation operation(*this, kScatter, deviceOf(outputs), options);
  Submission& submission = operation.submission();
  const Tensor& tensor = operation.only(outputs);
  const bool isRoot = operation.isAt(options.rootRank);
  operation.require(inputs.size() == (isRoot ? 1U : 0U), "takes a list of inputs at the root, and none elsewhere.");
  const Elements elements = movedElements(tensor.scalar_type());
  Tensor row;
  if (isRoot) {
    operation.checkList(inputs.front(), tensor.scalar_type());
    for (const Tensor& input : inputs.front()) {
      operation.require(input.numel() == tensor.numel(), "takes inputs as large as the output.");
    }
    row = submission.read(flat(inputs.front()));
  }
  const Tensor output = submission.write(tensor);
  operation.add([&](dfcclRequest_t* request) {
    return dfcclScatter(memoryOf(row), memoryOf(output), elements.countOf(output), elements.type,
                        static_cast<int>(options.rootRank), operation.group(), operation.tag(elements.distinction),
                        operation.stream(), request);
  });
  return operation.start({outputs}, isRoot ? inputs.front() : Tensors());
}

}  // namespace dfccl_torch

#include <c10/util/irange.h>

#include "backend.hpp"
#include "error.hpp"
#include "lists.hpp"
#include "operation.hpp"
#include "reduction.hpp"
#include "together.hpp"

namespace dfccl_torch {
namespace {

constexpr Label kAllReduce{c10d::OpType::ALLREDUCE, "dfccl:all_reduce"};
constexpr Label kAllReduceCoalesced{c10d::OpType::ALLREDUCE_COALESCED, "dfccl:all_reduce"};
constexpr Label kReduce{c10d::OpType::REDUCE, "dfccl:reduce"};
constexpr Label kReduceScatter{c10d::OpType::REDUCE_SCATTER, "dfccl:reduce_scatter"};
constexpr Label kReduceScatterBase{c10d::OpType::_REDUCE_SCATTER_BASE, "dfccl:_reduce_scatter_base"};
// Its own type is newer than torch 2.9.
constexpr Label kReduceScatterCoalesced{c10d::OpType::COALESCED, "dfccl:reduce_scatter"};

}  // namespace

void DfcclBackend::addAllReduce(Operation& operation, Tensor& tensor, const c10d::ReduceOp& op) {
  Submission& submission = operation.submission();
  const Reduction reduction = reductionOf(op, operation.checked(tensor).scalar_type());
  const Elements& elements = reduction.elements;
  if (!reduction.op) {
    const Tensor input = submission.read(contribution(tensor, op));
    const Tensor rows = submission.keep(at::empty({operation.size(), input.numel()}, input.options()));
    operation.add([&](dfcclRequest_t* request) {
      return dfcclAllGather(memoryOf(input), memoryOf(rows), elements.countOf(input), elements.type, operation.group(),
                            operation.tag(reduction.distinction), operation.stream(), request);
    });
    submission.finally({rows, tensor},
                       [rows, op, target = tensor] { copyInto(target, folded(rows, op).view(target.sizes())); });
    return;
  }
  const Tensor output = submission.update(tensor);
  const Tensor input = submission.read(contribution(output, op));
  operation.add([&](dfcclRequest_t* request) {
    return dfcclAllReduce(memoryOf(input), memoryOf(output), elements.countOf(output), elements.type, *reduction.op,
                          operation.group(), operation.tag(reduction.distinction), operation.stream(), request);
  });
}

DfcclBackend::Handle DfcclBackend::allreduce(Tensors& tensors, const c10d::AllreduceOptions& options) {
  if (tensors.size() == 1 && tensors.front().is_sparse()) return allreduce_sparse(tensors, options);
  Operation operation(*this, kAllReduce, deviceOf(tensors), options);
  addAllReduce(operation, operation.only(tensors), options.reduceOp);
  return operation.start({tensors}, tensors);
}

DfcclBackend::Handle DfcclBackend::allreduce_coalesced(Tensors& tensors,
                                                       const c10d::AllreduceCoalescedOptions& options) {
  Operation operation(*this, kAllReduceCoalesced, deviceOf(tensors), options);
  operation.require(!tensors.empty(), "takes at least one tensor.");
  Together together(operation.submission());
  for (Tensor& tensor : tensors) addAllReduce(operation, tensor, options.reduceOp);
  together.submit();
  return operation.start({tensors}, tensors);
}

DfcclBackend::Handle DfcclBackend::reduce(Tensors& tensors, const c10d::ReduceOptions& options) {
  Operation operation(*this, kReduce, deviceOf(tensors), options);
  Submission& submission = operation.submission();
  const Tensor& tensor = operation.only(tensors);
  const Reduction reduction = reductionOf(options.reduceOp, tensor.scalar_type());
  const Elements& elements = reduction.elements;
  const bool isRoot = operation.isAt(options.rootRank);
  const int root = static_cast<int>(options.rootRank);
  if (!reduction.op) {
    const Tensor input = submission.read(contribution(tensor, options.reduceOp));
    const Tensor rows =
        isRoot ? submission.keep(at::empty({operation.size(), input.numel()}, input.options())) : Tensor();
    operation.add([&](dfcclRequest_t* request) {
      return dfcclGather(memoryOf(input), memoryOf(rows), elements.countOf(input), elements.type, root,
                         operation.group(), operation.tag(reduction.distinction), operation.stream(), request);
    });
    if (isRoot) {
      submission.finally({rows, tensor}, [rows, op = options.reduceOp, tensor] {
        copyInto(tensor, folded(rows, op).view(tensor.sizes()));
      });
    }
    return operation.start({tensors}, tensors);
  }
  const Tensor output = isRoot ? submission.update(tensor) : Tensor();
  const Tensor input = submission.read(contribution(isRoot ? output : tensor, options.reduceOp));
  operation.add([&](dfcclRequest_t* request) {
    return dfcclReduce(memoryOf(input), memoryOf(output), elements.countOf(input), elements.type, *reduction.op, root,
                       operation.group(), operation.tag(reduction.distinction), operation.stream(), request);
  });
  return operation.start({tensors}, tensors);
}

/// @param dense what the ranks get, one behind the other.
void DfcclBackend::addReduceScatter(Operation& operation, Tensor& output, const Tensor& dense,
                                    const c10d::ReduceOp& op) {
  Submission& submission = operation.submission();
  operation.require(operation.checked(output).scalar_type() == operation.checked(dense).scalar_type(),
                    "takes input and output of one type.");
  operation.require(dense.numel() == output.numel() * operation.size(),
                    "takes an input of as many elements as all outputs have.");
  const Reduction reduction = reductionOf(op, output.scalar_type());
  const Elements& elements = reduction.elements;
  const Tensor input = submission.read(contribution(dense, op));
  if (!reduction.op) {
    const Tensor rows = submission.keep(at::empty({operation.size(), output.numel()}, output.options()));
    operation.add([&](dfcclRequest_t* request) {
      return dfcclAllToAll(memoryOf(input), memoryOf(rows), elements.countOf(output), elements.type, operation.group(),
                           operation.tag(reduction.distinction), operation.stream(), request);
    });
    submission.finally({rows, output},
                       [rows, op, target = output] { copyInto(target, folded(rows, op).view(target.sizes())); });
    return;
  }
  const Tensor result = submission.write(output);
  operation.add([&](dfcclRequest_t* request) {
    return dfcclReduceScatter(memoryOf(input), memoryOf(result), elements.countOf(result), elements.type, *reduction.op,
                              operation.group(), operation.tag(reduction.distinction), operation.stream(), request);
  });
}

void DfcclBackend::addReduceScatter(Operation& operation, Tensor& output, const Tensors& inputs,
                                    const c10d::ReduceOp& op) {
  operation.checkList(inputs, operation.checked(output).scalar_type());
  if (haveOneSize(inputs)) {
    addReduceScatter(operation, output, flat(inputs), op);
    return;
  }
  Submission& submission = operation.submission();
  const Reduction reduction = reductionOf(op, output.scalar_type());
  operation.require(reduction.op.has_value(), "of uneven lists can't be done with this operator and type.");
  operation.require(inputs[static_cast<size_t>(getRank())].numel() == output.numel(),
                    "takes an output as large as this rank's input.");
  const std::vector<size_t> counts = countsOf(inputs, reduction.elements);
  const Tensor input = submission.read(contribution(flat(inputs), op));
  const Tensor result = submission.write(output);
  operation.add([&](dfcclRequest_t* request) {
    return dfcclReduceScatterV(memoryOf(input), memoryOf(result), counts.data(), reduction.elements.type, *reduction.op,
                               operation.group(), operation.tag(reduction.distinction), operation.stream(), request);
  });
}

DfcclBackend::Handle DfcclBackend::reduce_scatter(Tensors& outputs, std::vector<Tensors>& inputs,
                                                  const c10d::ReduceScatterOptions& options) {
  Operation operation(*this, kReduceScatter, deviceOf(outputs), options);
  Tensor& output = operation.only(outputs);
  operation.require(inputs.size() == 1, "takes one list of tensors.");
  addReduceScatter(operation, output, inputs.front(), options.reduceOp);
  return operation.start({outputs}, inputs.front());
}

DfcclBackend::Handle DfcclBackend::_reduce_scatter_base(Tensor& output, Tensor& input,
                                                        const c10d::ReduceScatterOptions& options) {
  Operation operation(*this, kReduceScatterBase, output.device(), options);
  addReduceScatter(operation, output, input, options.reduceOp);
  return operation.start({{output}}, {input});
}

DfcclBackend::Handle DfcclBackend::reduce_scatter_tensor_coalesced(Tensors& outputs, Tensors& inputs,
                                                                   const c10d::ReduceScatterOptions& options) {
  Operation operation(*this, kReduceScatterCoalesced, deviceOf(outputs), options);
  operation.require(outputs.size() == inputs.size(), "takes as many outputs as inputs.");
  Together together(operation.submission());
  for (const auto i : c10::irange(outputs.size())) {
    addReduceScatter(operation, outputs[i], inputs[i], options.reduceOp);
  }
  together.submit();
  return operation.start({outputs}, inputs);
}

}  // namespace dfccl_torch

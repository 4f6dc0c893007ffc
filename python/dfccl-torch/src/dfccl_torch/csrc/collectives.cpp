#include <c10/util/irange.h>

#include "backend.hpp"
#include "device_stream.hpp"
#include "error.hpp"
#include "operation.hpp"
#include "reduction.hpp"

namespace dfccl_torch {
namespace {

using c10d::OpType;

constexpr Label kAllReduce{OpType::ALLREDUCE, "dfccl:all_reduce"};
constexpr Label kAllReduceCoalesced{OpType::ALLREDUCE_COALESCED, "dfccl:all_reduce"};
constexpr Label kBroadcast{OpType::BROADCAST, "dfccl:broadcast"};
constexpr Label kReduce{OpType::REDUCE, "dfccl:reduce"};
constexpr Label kAllGather{OpType::ALLGATHER, "dfccl:all_gather"};
constexpr Label kAllGatherBase{OpType::_ALLGATHER_BASE, "dfccl:_all_gather_base"};
constexpr Label kAllGatherCoalesced{OpType::ALLGATHER_COALESCED, "dfccl:all_gather"};
constexpr Label kGather{OpType::GATHER, "dfccl:gather"};
constexpr Label kScatter{OpType::SCATTER, "dfccl:scatter"};
constexpr Label kReduceScatter{OpType::REDUCE_SCATTER, "dfccl:reduce_scatter"};
constexpr Label kReduceScatterBase{OpType::_REDUCE_SCATTER_BASE, "dfccl:_reduce_scatter_base"};
// Its own type is newer than torch 2.9.
constexpr Label kReduceScatterCoalesced{OpType::COALESCED, "dfccl:reduce_scatter"};
constexpr Label kBarrier{OpType::BARRIER, "dfccl:barrier"};

/// What a rank hasn't got, because another is the root, is no memory.
void* memoryOf(const at::Tensor& tensor) { return tensor.defined() ? tensor.data_ptr() : nullptr; }

at::Tensor flat(const std::vector<at::Tensor>& tensors) {
  std::vector<at::Tensor> rows;
  for (const at::Tensor& tensor : tensors) rows.push_back(tensor.detach().reshape({-1}));
  return at::cat(rows);
}

bool haveOneSize(const std::vector<at::Tensor>& tensors) {
  for (const at::Tensor& tensor : tensors) {
    if (tensor.numel() != tensors.front().numel()) return false;
  }
  return true;
}

int64_t elementsOf(const std::vector<at::Tensor>& tensors) {
  int64_t sum = 0;
  for (const at::Tensor& tensor : tensors) sum += tensor.numel();
  return sum;
}

std::vector<size_t> countsOf(const std::vector<at::Tensor>& tensors, const Elements& elements) {
  std::vector<size_t> counts;
  for (const at::Tensor& tensor : tensors) counts.push_back(elements.countOf(tensor));
  return counts;
}

/// Once all is over, the one tensor that a list's data came in is spread over the list.
void spreadInTheEnd(Submission& submission, const at::Tensor& source, const std::vector<at::Tensor>& targets) {
  std::vector<at::Tensor> touched = targets;
  touched.push_back(source);
  submission.finally(std::move(touched), [source, targets] {
    int64_t offset = 0;
    const at::AutoDispatchBelowADInplaceOrView guard;
    for (const at::Tensor& target : targets) {
      target.copy_(source.narrow(0, offset, target.numel()).view(target.sizes()));
      offset += target.numel();
    }
  });
}

}  // namespace

// ---- Reductions ----------------------------------------------------------------------------------------------------

void DfcclBackend::addAllReduce(Operation& operation, Tensor& tensor, const c10d::ReduceOp& op) {
  Submission& submission = operation.submission();
  const Reduction reduction = reductionOf(op, operation.checked(tensor).scalar_type());
  const Elements& elements = reduction.elements;
  if (!reduction.op) {
    const Tensor input = submission.read(contribution(tensor, op));
    const Tensor rows = submission.keep(at::empty({operation.size(), input.numel()}, input.options()));
    operation.add([&](dfcclRequest_t* request) {
      return dfcclAllGather(memoryOf(input), memoryOf(rows), elements.countOf(input), elements.type, operation.group(),
                            operation.tag(), operation.stream(), request);
    });
    submission.finally({rows, tensor}, [rows, op, target = tensor] {
      const at::AutoDispatchBelowADInplaceOrView guard;
      target.copy_(folded(rows, op).view(target.sizes()));
    });
    return;
  }
  const Tensor output = submission.update(tensor);
  const Tensor input = submission.read(contribution(output, op));
  operation.add([&](dfcclRequest_t* request) {
    return dfcclAllReduce(memoryOf(input), memoryOf(output), elements.countOf(output), elements.type, *reduction.op,
                          operation.group(), operation.tag(), operation.stream(), request);
  });
}

DfcclBackend::Handle DfcclBackend::allreduce(Tensors& tensors, const c10d::AllreduceOptions& options) {
  Operation operation(*this, kAllReduce, deviceOf(tensors), options.timeout);
  addAllReduce(operation, operation.only(tensors), options.reduceOp);
  return operation.start({tensors}, tensors);
}

DfcclBackend::Handle DfcclBackend::allreduce_sparse(Tensors& /* refused */, const c10d::AllreduceOptions& /* */) {
  refuse("all_reduce was given a sparse tensor.", "Pass its values, or tensor.to_dense().");
}

DfcclBackend::Handle DfcclBackend::allreduce_coalesced(Tensors& tensors,
                                                       const c10d::AllreduceCoalescedOptions& options) {
  Operation operation(*this, kAllReduceCoalesced, deviceOf(tensors), options.timeout);
  operation.require(!tensors.empty(), "takes at least one tensor.");
  for (Tensor& tensor : tensors) addAllReduce(operation, tensor, options.reduceOp);
  return operation.start({tensors}, tensors);
}

DfcclBackend::Handle DfcclBackend::reduce(Tensors& tensors, const c10d::ReduceOptions& options) {
  Operation operation(*this, kReduce, deviceOf(tensors), options.timeout);
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
                         operation.group(), operation.tag(), operation.stream(), request);
    });
    if (isRoot) {
      submission.finally({rows, tensor}, [rows, op = options.reduceOp, tensor] {
        const at::AutoDispatchBelowADInplaceOrView guard;
        tensor.copy_(folded(rows, op).view(tensor.sizes()));
      });
    }
    return operation.start({tensors}, tensors);
  }
  const Tensor output = isRoot ? submission.update(tensor) : Tensor();
  const Tensor input = submission.read(contribution(isRoot ? output : tensor, options.reduceOp));
  operation.add([&](dfcclRequest_t* request) {
    return dfcclReduce(memoryOf(input), memoryOf(output), elements.countOf(input), elements.type, *reduction.op, root,
                       operation.group(), operation.tag(), operation.stream(), request);
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
                           operation.tag(), operation.stream(), request);
    });
    submission.finally({rows, output}, [rows, op, target = output] {
      const at::AutoDispatchBelowADInplaceOrView guard;
      target.copy_(folded(rows, op).view(target.sizes()));
    });
    return;
  }
  const Tensor result = submission.write(output);
  operation.add([&](dfcclRequest_t* request) {
    return dfcclReduceScatter(memoryOf(input), memoryOf(result), elements.countOf(result), elements.type, *reduction.op,
                              operation.group(), operation.tag(), operation.stream(), request);
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
  const Tensor input = submission.keep(contribution(flat(inputs), op));
  const Tensor result = submission.write(output);
  operation.add([&](dfcclRequest_t* request) {
    return dfcclReduceScatterV(memoryOf(input), memoryOf(result), counts.data(), reduction.elements.type, *reduction.op,
                               operation.group(), operation.tag(), operation.stream(), request);
  });
}

DfcclBackend::Handle DfcclBackend::reduce_scatter(Tensors& outputs, std::vector<Tensors>& inputs,
                                                  const c10d::ReduceScatterOptions& options) {
  Operation operation(*this, kReduceScatter, deviceOf(outputs), options.timeout);
  Tensor& output = operation.only(outputs);
  operation.require(inputs.size() == 1, "takes one list of tensors.");
  addReduceScatter(operation, output, inputs.front(), options.reduceOp);
  return operation.start({outputs}, inputs.front());
}

DfcclBackend::Handle DfcclBackend::_reduce_scatter_base(Tensor& output, Tensor& input,
                                                        const c10d::ReduceScatterOptions& options) {
  Operation operation(*this, kReduceScatterBase, output.device(), options.timeout);
  addReduceScatter(operation, output, input, options.reduceOp);
  return operation.start({{output}}, {input});
}

DfcclBackend::Handle DfcclBackend::reduce_scatter_tensor_coalesced(Tensors& outputs, Tensors& inputs,
                                                                   const c10d::ReduceScatterOptions& options) {
  Operation operation(*this, kReduceScatterCoalesced, deviceOf(outputs), options.timeout);
  operation.require(outputs.size() == inputs.size(), "takes as many outputs as inputs.");
  for (const auto i : c10::irange(outputs.size())) {
    addReduceScatter(operation, outputs[i], inputs[i], options.reduceOp);
  }
  return operation.start({outputs}, inputs);
}

// ---- Copies --------------------------------------------------------------------------------------------------------

DfcclBackend::Handle DfcclBackend::broadcast(Tensors& tensors, const c10d::BroadcastOptions& options) {
  Operation operation(*this, kBroadcast, deviceOf(tensors), options.timeout);
  Submission& submission = operation.submission();
  const Tensor& tensor = operation.only(tensors);
  const Elements elements = movedElements(tensor.scalar_type());
  const Tensor dense = operation.isAt(options.rootRank) ? submission.read(tensor) : submission.write(tensor);
  operation.add([&](dfcclRequest_t* request) {
    return dfcclBroadcast(memoryOf(dense), memoryOf(dense), elements.countOf(dense), elements.type,
                          static_cast<int>(options.rootRank), operation.group(), operation.tag(), operation.stream(),
                          request);
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
                            operation.tag(), operation.stream(), request);
    });
  } else {
    const std::vector<size_t> counts = countsOf(outputs, elements);
    operation.add([&](dfcclRequest_t* request) {
      return dfcclAllGatherV(memoryOf(input), memoryOf(row), counts.data(), nullptr, elements.type, operation.group(),
                             operation.tag(), operation.stream(), request);
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
                          operation.tag(), operation.stream(), request);
  });
}

DfcclBackend::Handle DfcclBackend::allgather(std::vector<Tensors>& outputs, Tensors& inputs,
                                             const c10d::AllgatherOptions& options) {
  Operation operation(*this, kAllGather, deviceOf(inputs), options.timeout);
  const Tensor& input = operation.only(inputs);
  operation.require(outputs.size() == 1, "takes one list of outputs.");
  addAllGather(operation, outputs.front(), input);
  return operation.start(outputs, inputs);
}

DfcclBackend::Handle DfcclBackend::_allgather_base(Tensor& output, Tensor& input,
                                                   const c10d::AllgatherOptions& options) {
  Operation operation(*this, kAllGatherBase, output.device(), options.timeout);
  addAllGather(operation, output, input);
  return operation.start({{output}}, {input});
}

/// The outputs are a list for each rank, with a tensor for each input.
DfcclBackend::Handle DfcclBackend::allgather_coalesced(std::vector<Tensors>& outputs, Tensors& inputs,
                                                       const c10d::AllgatherOptions& options) {
  Operation operation(*this, kAllGatherCoalesced, deviceOf(inputs), options.timeout);
  operation.require(static_cast<int>(outputs.size()) == operation.size(), "takes a list of outputs for each rank.");
  for (const Tensors& list : outputs) {
    operation.require(list.size() == inputs.size(), "takes as many outputs for each rank as there are inputs.");
  }
  for (const auto i : c10::irange(inputs.size())) {
    Tensors ofInput;
    for (const Tensors& list : outputs) ofInput.push_back(list[i]);
    addAllGather(operation, ofInput, inputs[i]);
  }
  return operation.start(outputs, inputs);
}

DfcclBackend::Handle DfcclBackend::allgather_into_tensor_coalesced(Tensors& outputs, Tensors& inputs,
                                                                   const c10d::AllgatherOptions& options) {
  Operation operation(*this, kAllGatherCoalesced, deviceOf(inputs), options.timeout);
  operation.require(outputs.size() == inputs.size(), "takes as many outputs as inputs.");
  for (const auto i : c10::irange(outputs.size())) addAllGather(operation, outputs[i], inputs[i]);
  return operation.start({outputs}, inputs);
}

DfcclBackend::Handle DfcclBackend::gather(std::vector<Tensors>& outputs, Tensors& inputs,
                                          const c10d::GatherOptions& options) {
  Operation operation(*this, kGather, deviceOf(inputs), options.timeout);
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
                       static_cast<int>(options.rootRank), operation.group(), operation.tag(), operation.stream(),
                       request);
  });
  if (isRoot) spreadInTheEnd(submission, row, outputs.front());
  return operation.start(outputs, inputs);
}

DfcclBackend::Handle DfcclBackend::scatter(Tensors& outputs, std::vector<Tensors>& inputs,
                                           const c10d::ScatterOptions& options) {
  Operation operation(*this, kScatter, deviceOf(outputs), options.timeout);
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
    row = submission.keep(flat(inputs.front()));
  }
  const Tensor output = submission.write(tensor);
  operation.add([&](dfcclRequest_t* request) {
    return dfcclScatter(memoryOf(row), memoryOf(output), elements.countOf(output), elements.type,
                        static_cast<int>(options.rootRank), operation.group(), operation.tag(), operation.stream(),
                        request);
  });
  return operation.start({outputs}, isRoot ? inputs.front() : Tensors());
}

/// The host waits, whatever the tensors of the group's other operations are on. What the GPU was given before belongs
/// to what the others wait for.
DfcclBackend::Handle DfcclBackend::barrier(const c10d::BarrierOptions& options) {
  if (const std::optional<c10::Device> gpu = membership_.gpu()) currentStream(*gpu).synchronize();
  Operation operation(*this, kBarrier, c10::kCPU, options.timeout);
  operation.add([&](dfcclRequest_t* request) {
    return dfcclBarrier(operation.group(), operation.tag(), operation.stream(), request);
  });
  return operation.start({}, {});
}

}  // namespace dfccl_torch

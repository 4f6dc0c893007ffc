#pragma once
// A collective or a message, as a caller asks for it.
#include <memory>
#include <vector>

#include "nccl_api/calls/communicator.hpp"

namespace dfccl::nccl {

enum class Kind { allReduce, reduce, broadcast, allGather, reduceScatter, allToAll, gather, scatter, send, receive };

struct Operation {
  Kind kind;
  std::shared_ptr<Communicator> communicator;
  const void* send = nullptr;
  void* recv = nullptr;
  size_t count = 0;
  ncclDataType_t type = ncclInt8;
  ncclRedOp_t op = ncclSum;
  std::optional<Scalar> scalar;  // where `op` is none of NCCL's own
  int other = 0;                 // root or peer
  cudaStream_t stream = nullptr;
};

/// Bytes of so many times its elements. @throws Failure ncclInvalidArgument: no memory has as many.
size_t bytesOf(const Operation& operation, size_t parts);
/// Queues it, and lets its stream wait for it. @throws Failure
void submit(const Operation& operation);
/// Queues all of them, and lets each one's stream wait for it. @throws Failure: some may have been queued.
void submit(std::vector<Operation> operations);

}  // namespace dfccl::nccl

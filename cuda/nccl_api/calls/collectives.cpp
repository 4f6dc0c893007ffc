// Collectives and messages.
#include <string>

#include "functions.hpp"
#include "nccl_api/calls/group_calls.hpp"
#include "nccl_api/universe/arguments.hpp"

namespace dfccl::nccl {
namespace {

constexpr int kNone = 0;

Operation operation(Kind kind, ncclComm_t comm, const void* send, void* recv, size_t count, ncclDataType_t type,
                    cudaStream_t stream) {
  checkType(type);
  Operation o;
  o.kind = kind;
  o.communicator = Communicators::find(comm);
  o.communicator->checkNotFinalized();
  o.send = send;
  o.recv = recv;
  o.count = count;
  o.type = type;
  o.stream = stream;
  return o;
}

Operation reduction(Kind kind, ncclComm_t comm, const void* send, void* recv, size_t count, ncclDataType_t type,
                    ncclRedOp_t op, cudaStream_t stream) {
  Operation o = operation(kind, comm, send, recv, count, type, stream);
  o.op = op;
  if (op >= ncclSum && op <= ncclAvg) return o;
  o.scalar = o.communicator->scaledSums().find(op);
  if (!o.scalar) {
    refuseArgument("The communicator has no operator " + std::to_string(op) + ".",
                   "Pass one of NCCL's, or one that ncclRedOpCreatePreMulSum made for this communicator.");
  }
  if (o.scalar->type != type) {
    refuseArgument("The operator was made for data type " + std::to_string(o.scalar->type) + ", and this is " +
                       std::to_string(type) + ".",
                   "Make one for each type.");
  }
  return o;
}

ncclResult_t submitIfAny(Operation o, int other) {
  o.other = other;
  // As in NCCL: an empty collective is nobody's business. An empty message has another half.
  if (o.count == 0 && o.kind != Kind::send && o.kind != Kind::receive) return ncclSuccess;
  return submitSoon(std::move(o));
}

}  // namespace

ncclResult_t allReduce(const void* send, void* recv, size_t count, ncclDataType_t type, ncclRedOp_t op, ncclComm_t comm,
                       cudaStream_t stream) {
  return submitIfAny(reduction(Kind::allReduce, comm, send, recv, count, type, op, stream), kNone);
}

ncclResult_t reduce(const void* send, void* recv, size_t count, ncclDataType_t type, ncclRedOp_t op, int root,
                    ncclComm_t comm, cudaStream_t stream) {
  return submitIfAny(reduction(Kind::reduce, comm, send, recv, count, type, op, stream), root);
}

ncclResult_t broadcast(const void* send, void* recv, size_t count, ncclDataType_t type, int root, ncclComm_t comm,
                       cudaStream_t stream) {
  return submitIfAny(operation(Kind::broadcast, comm, send, recv, count, type, stream), root);
}

ncclResult_t bcast(void* buffer, size_t count, ncclDataType_t type, int root, ncclComm_t comm, cudaStream_t stream) {
  return broadcast(buffer, buffer, count, type, root, comm, stream);
}

ncclResult_t allGather(const void* send, void* recv, size_t count, ncclDataType_t type, ncclComm_t comm,
                       cudaStream_t stream) {
  return submitIfAny(operation(Kind::allGather, comm, send, recv, count, type, stream), kNone);
}

ncclResult_t reduceScatter(const void* send, void* recv, size_t count, ncclDataType_t type, ncclRedOp_t op,
                           ncclComm_t comm, cudaStream_t stream) {
  return submitIfAny(reduction(Kind::reduceScatter, comm, send, recv, count, type, op, stream), kNone);
}

ncclResult_t alltoAll(const void* send, void* recv, size_t count, ncclDataType_t type, ncclComm_t comm,
                      cudaStream_t stream) {
  return submitIfAny(operation(Kind::allToAll, comm, send, recv, count, type, stream), kNone);
}

ncclResult_t gather(const void* send, void* recv, size_t count, ncclDataType_t type, int root, ncclComm_t comm,
                    cudaStream_t stream) {
  return submitIfAny(operation(Kind::gather, comm, send, recv, count, type, stream), root);
}

ncclResult_t scatter(const void* send, void* recv, size_t count, ncclDataType_t type, int root, ncclComm_t comm,
                     cudaStream_t stream) {
  return submitIfAny(operation(Kind::scatter, comm, send, recv, count, type, stream), root);
}

ncclResult_t send(const void* send, size_t count, ncclDataType_t type, int peer, ncclComm_t comm, cudaStream_t stream) {
  return submitIfAny(operation(Kind::send, comm, send, nullptr, count, type, stream), peer);
}

ncclResult_t recv(void* recv, size_t count, ncclDataType_t type, int peer, ncclComm_t comm, cudaStream_t stream) {
  return submitIfAny(operation(Kind::receive, comm, nullptr, recv, count, type, stream), peer);
}

}  // namespace dfccl::nccl

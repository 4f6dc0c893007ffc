// Collectives on a group: arguments become a signature.
#include "c_api/group_handle.hpp"
#include "c_api/last_error.hpp"

using namespace dfccl;
using namespace dfccl::c_api;

namespace {

constexpr int kNoRoot = 0;

dfcclResult_t run(Collective collective, const void* send, void* recv, size_t count, dfcclDataType_t type,
                  dfcclRedOp_t op, int root, dfcclGroup_t handle, uint64_t tag, dfcclStream_t stream,
                  dfcclRequest_t* request) {
  return guarded([&] {
    if (request != nullptr) *request = nullptr;
    const GroupHandle& group = groupOf(handle);
    MatchedRun run{signatureOf(group, collective, count, type, op, tag), send, recv, stream};
    if (hasRoot(collective)) run.signature.root = placeIn(group, root, "root");
    submit(handle, group, run, request);
    return dfcclSuccess;
  });
}

}  // namespace

extern "C" {

dfcclResult_t dfcclAllReduce(const void* sendbuff, void* recvbuff, size_t count, dfcclDataType_t type, dfcclRedOp_t op,
                             dfcclGroup_t group, uint64_t tag, dfcclStream_t stream, dfcclRequest_t* request) {
  return run(Collective::allReduce, sendbuff, recvbuff, count, type, op, kNoRoot, group, tag, stream, request);
}

dfcclResult_t dfcclReduce(const void* sendbuff, void* recvbuff, size_t count, dfcclDataType_t type, dfcclRedOp_t op,
                          int root, dfcclGroup_t group, uint64_t tag, dfcclStream_t stream, dfcclRequest_t* request) {
  return run(Collective::reduce, sendbuff, recvbuff, count, type, op, root, group, tag, stream, request);
}

dfcclResult_t dfcclBroadcast(const void* sendbuff, void* recvbuff, size_t count, dfcclDataType_t type, int root,
                             dfcclGroup_t group, uint64_t tag, dfcclStream_t stream, dfcclRequest_t* request) {
  return run(Collective::broadcast, sendbuff, recvbuff, count, type, dfcclSum, root, group, tag, stream, request);
}

dfcclResult_t dfcclAllGather(const void* sendbuff, void* recvbuff, size_t count, dfcclDataType_t type,
                             dfcclGroup_t group, uint64_t tag, dfcclStream_t stream, dfcclRequest_t* request) {
  return run(Collective::allGather, sendbuff, recvbuff, count, type, dfcclSum, kNoRoot, group, tag, stream, request);
}

dfcclResult_t dfcclReduceScatter(const void* sendbuff, void* recvbuff, size_t count, dfcclDataType_t type,
                                 dfcclRedOp_t op, dfcclGroup_t group, uint64_t tag, dfcclStream_t stream,
                                 dfcclRequest_t* request) {
  return run(Collective::reduceScatter, sendbuff, recvbuff, count, type, op, kNoRoot, group, tag, stream, request);
}

dfcclResult_t dfcclAllToAll(const void* sendbuff, void* recvbuff, size_t count, dfcclDataType_t type,
                            dfcclGroup_t group, uint64_t tag, dfcclStream_t stream, dfcclRequest_t* request) {
  return run(Collective::allToAll, sendbuff, recvbuff, count, type, dfcclSum, kNoRoot, group, tag, stream, request);
}

dfcclResult_t dfcclGather(const void* sendbuff, void* recvbuff, size_t count, dfcclDataType_t type, int root,
                          dfcclGroup_t group, uint64_t tag, dfcclStream_t stream, dfcclRequest_t* request) {
  return run(Collective::gather, sendbuff, recvbuff, count, type, dfcclSum, root, group, tag, stream, request);
}

dfcclResult_t dfcclScatter(const void* sendbuff, void* recvbuff, size_t count, dfcclDataType_t type, int root,
                           dfcclGroup_t group, uint64_t tag, dfcclStream_t stream, dfcclRequest_t* request) {
  return run(Collective::scatter, sendbuff, recvbuff, count, type, dfcclSum, root, group, tag, stream, request);
}

dfcclResult_t dfcclBarrier(dfcclGroup_t group, uint64_t tag, dfcclStream_t stream, dfcclRequest_t* request) {
  return run(Collective::barrier, nullptr, nullptr, 0, dfcclUint8, dfcclSum, kNoRoot, group, tag, stream, request);
}
}

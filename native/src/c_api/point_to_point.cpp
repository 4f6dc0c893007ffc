// Messages between two members of a group.
#include "c_api/group_handle.hpp"
#include "c_api/last_error.hpp"

using namespace dfccl;
using namespace dfccl::c_api;

namespace {

/// @param isSend this rank's role. @param buffer what is sent, or where it goes.
dfcclResult_t message(bool isSend, void* buffer, size_t count, dfcclDataType_t type, int peer, dfcclGroup_t handle,
                      uint64_t tag, dfcclStream_t stream, dfcclRequest_t* request) {
  return guarded([&] {
    if (request != nullptr) *request = nullptr;
    const GroupHandle& group = groupOf(handle);
    const uint32_t other = placeIn(group, peer, "peer"), self = group.member();
    MatchedRun run;
    run.signature = signatureOf(group, Collective::sendRecv, count, type, dfcclSum, tag);
    run.signature.purpose = Purpose::pointToPoint;
    run.signature.root = isSend ? self : other;
    run.signature.receiver = isSend ? other : self;
    if (isSend) {
      run.send = buffer;
    } else {
      run.recv = buffer;
    }
    run.stream = stream;
    if (other == self) run.kind = isSend ? RunKind::sendToSelf : RunKind::receiveFromSelf;
    submit(handle, group, run, request);
    return dfcclSuccess;
  });
}

}  // namespace

extern "C" {

dfcclResult_t dfcclSend(const void* sendbuff, size_t count, dfcclDataType_t type, int peer, dfcclGroup_t group,
                        uint64_t tag, dfcclStream_t stream, dfcclRequest_t* request) {
  return message(true, const_cast<void*>(sendbuff), count, type, peer, group, tag, stream, request);
}

dfcclResult_t dfcclRecv(void* recvbuff, size_t count, dfcclDataType_t type, int peer, dfcclGroup_t group, uint64_t tag,
                        dfcclStream_t stream, dfcclRequest_t* request) {
  return message(false, recvbuff, count, type, peer, group, tag, stream, request);
}

dfcclResult_t dfcclRecvAny(void* recvbuff, size_t count, dfcclDataType_t type, int* source, dfcclGroup_t handle,
                           uint64_t tag, dfcclRequest_t* request) {
  return guarded([&] {
    if (request != nullptr) *request = nullptr;
    if (source != nullptr) *source = -1;
    const GroupHandle& group = groupOf(handle);
    if (isOnSeveralMachines(group)) {
      throw Error(dfcclUnavailable,
                  "The group's members are on several machines, where nobody looks who of them sends first.",
                  "Receive from a rank that you name, or in a group of one machine's ranks.",
                  {{"rank", std::to_string(group.context->number())}});
    }
    MatchedRun run;
    run.signature = signatureOf(group, Collective::sendRecv, count, type, dfcclSum, tag);
    run.signature.purpose = Purpose::pointToPoint;
    run.signature.root = (group.member() + 1) % group.size();  // by which its arguments are checked
    run.signature.receiver = group.member();
    run.recv = recvbuff;
    run.kind = RunKind::receiveFromAny;
    run.source = source;
    group.context->openWorld().receivers().expect();
    submit(handle, group, run, request);
    return dfcclSuccess;
  });
}
}

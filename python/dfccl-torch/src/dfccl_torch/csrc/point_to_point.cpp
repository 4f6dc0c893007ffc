#include "backend.hpp"
#include "error.hpp"
#include "operation.hpp"

namespace dfccl_torch {
namespace {

constexpr Label kSend{c10d::OpType::SEND, "dfccl:send"};
constexpr Label kRecv{c10d::OpType::RECV, "dfccl:recv"};

}  // namespace

DfcclBackend::Handle DfcclBackend::send(Tensors& tensors, int peer, int tag) {
  Operation operation(*this, kSend, deviceOf(tensors), tag);
  const Tensor tensor = operation.submission().read(operation.only(tensors));
  const Elements elements = movedElements(tensor.scalar_type());
  operation.add([&](dfcclRequest_t* request) {
    return dfcclSend(tensor.data_ptr(), elements.countOf(tensor), elements.type, peer, operation.group(),
                     operation.tag(), operation.stream(), request);
  });
  return operation.start({}, tensors);
}

DfcclBackend::Handle DfcclBackend::recv(Tensors& tensors, int peer, int tag) {
  Operation operation(*this, kRecv, deviceOf(tensors), tag);
  const Tensor tensor = operation.submission().write(operation.only(tensors));
  const Elements elements = movedElements(tensor.scalar_type());
  operation.add([&](dfcclRequest_t* request) {
    return dfcclRecv(tensor.data_ptr(), elements.countOf(tensor), elements.type, peer, operation.group(),
                     operation.tag(), operation.stream(), request);
  });
  return operation.start({tensors}, tensors);
}

DfcclBackend::Handle DfcclBackend::recvAnysource(Tensors& /* refused */, int /* tag */) {
  refuse("recv without a source isn't supported: a message is matched by who sends it.",
         "Name the source, or receive from each rank with irecv and see which is complete.");
}

}  // namespace dfccl_torch

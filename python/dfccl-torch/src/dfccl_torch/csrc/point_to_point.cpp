#include "backend.hpp"
#include "error.hpp"
#include "operation.hpp"

namespace dfccl_torch {
namespace {

constexpr Label kSend{c10d::OpType::SEND, "dfccl:send"};
constexpr Label kRecv{c10d::OpType::RECV, "dfccl:recv"};
constexpr Label kRecvAny{c10d::OpType::RECVANYSOURCE, "dfccl:recvAnySource"};

/// A send of up to so many bytes is over when it is issued: what goes is a copy of the tensor. Programs rely on it
/// where all ranks send before they receive, as the buffers of other backends' sockets allow it.
constexpr int64_t kBufferedBytes = 32 << 10;

}  // namespace

DfcclBackend::Handle DfcclBackend::send(Tensors& tensors, int peer, int tag) {
  Operation operation(*this, kSend, deviceOf(tensors), tag);
  const Tensor& given = operation.only(tensors);
  const bool isBuffered = given.is_cpu() && given.nbytes() <= kBufferedBytes;
  const Tensor tensor = operation.submission().read(isBuffered ? given.detach().clone() : given);
  const Elements elements = movedElements(tensor.scalar_type());
  operation.add([&](dfcclRequest_t* request) {
    return dfcclSend(tensor.data_ptr(), elements.countOf(tensor), elements.type, peer, operation.group(),
                     operation.tag(elements.distinction), operation.stream(), request);
  });
  return isBuffered ? operation.startBuffered(tensors, peer) : operation.start({}, tensors);
}

DfcclBackend::Handle DfcclBackend::recv(Tensors& tensors, int peer, int tag) {
  Operation operation(*this, kRecv, deviceOf(tensors), tag);
  const Tensor tensor = operation.submission().write(operation.only(tensors));
  const Elements elements = movedElements(tensor.scalar_type());
  operation.add([&](dfcclRequest_t* request) {
    return dfcclRecv(tensor.data_ptr(), elements.countOf(tensor), elements.type, peer, operation.group(),
                     operation.tag(elements.distinction), operation.stream(), request);
  });
  return operation.start({tensors}, tensors);
}

DfcclBackend::Handle DfcclBackend::recvAnysource(Tensors& tensors, int tag) {
  Operation operation(*this, kRecvAny, deviceOf(tensors), tag);
  const Tensor& given = operation.only(tensors);
  if (!given.is_cpu()) {
    refuse("recv without a source isn't supported on a GPU: a message is matched by who sends it.",
           "Name the source, or receive from each rank with irecv and see which is complete.");
  }
  Submission& submission = operation.submission();
  const Tensor tensor = submission.write(given);
  const Tensor source = submission.keep(at::empty({1}, at::TensorOptions(at::kInt)));
  const Elements elements = movedElements(tensor.scalar_type());
  operation.add([&](dfcclRequest_t* request) {
    return dfcclRecvAny(tensor.data_ptr(), elements.countOf(tensor), elements.type, source.data_ptr<int>(),
                        operation.group(), operation.tag(elements.distinction), request);
  });
  noteListening(source);
  return operation.startFromAny(source, tensors);
}

}  // namespace dfccl_torch

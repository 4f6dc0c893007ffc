#include "nccl_api/calls/prepared_operation.hpp"

#include <utility>

#include "base/types.hpp"
#include "host/driver/check.hpp"
#include "host/driver/memory.hpp"
#include "host/driver/stream_capture.hpp"
#include "nccl_api/calls/device_buffer.hpp"
#include "nccl_api/universe/failure.hpp"
#include "nccl_api/universe/scaling.hpp"

namespace dfccl::nccl {
namespace {

DataType typeOf(const Operation& o) { return static_cast<DataType>(o.type); }

std::shared_ptr<void> scratchFor(const Operation& o, size_t bytes) {
  const Communicator& c = *o.communicator;
  return c.universe()->scratch().take(c.universeRank(), c.context(), bytes);
}

/// Scratch that a graph writes to, whenever it is launched.
struct GraphScratch {
  std::shared_ptr<Universe> universe;  // whose the memory is: it goes last
  std::shared_ptr<void> memory;
};

void keepInGraph(GraphScratch scratch, cudaStream_t stream) {
  gpu::StreamCapture(stream).keep(std::make_shared<const GraphScratch>(std::move(scratch)));
}

}  // namespace

bool isCapturing(const Operation& o) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  const gpu::OnDevice here(o.communicator->device);
  checkCuda(cudaStreamIsCapturing(o.stream, &status), "cudaStreamIsCapturing");
  return status != cudaStreamCaptureStatusNone;
}

Operation scaled(const Operation& o, std::shared_ptr<void>& scratch) {
  const Communicator& c = *o.communicator;
  Operation rest = o;
  const size_t parts = o.kind == Kind::reduceScatter ? static_cast<size_t>(c.size()) : 1;
  const bool receives = o.kind == Kind::allReduce || (o.kind == Kind::reduce && o.other == c.rank());
  void* to = o.recv;
  const size_t bytes = bytesOf(o, parts);
  checkDeviceBuffer("send", o.send, bytes, typeOf(o), c.device);
  if (receives) {
    checkDeviceBuffer("receive", to, bytes, typeOf(o), c.device);
  } else {
    scratch = scratchFor(o, bytes);
    to = scratch.get();
  }
  const gpu::OnDevice here(c.device);
  if (scratch && isCapturing(o)) keepInGraph({c.universe(), scratch}, o.stream);
  checkCuda(scaleOnStream(to, o.send, o.count * parts, *o.scalar, o.stream), "a kernel's launch");
  rest.send = to;
  return rest;
}

Operation copied(const Operation& o, std::shared_ptr<void>& scratch) {
  const Communicator& c = *o.communicator;
  const auto ranks = static_cast<size_t>(c.size());
  const size_t bytes = bytesOf(o, ranks);
  checkDeviceBuffer("send", o.send, bytes, typeOf(o), c.device);
  scratch = scratchFor(o, bytes);
  const gpu::OnDevice here(c.device);
  checkCuda(cudaMemcpyAsync(scratch.get(), o.send, bytes, cudaMemcpyDeviceToDevice, o.stream), "cudaMemcpyAsync");
  Operation rest = o;
  rest.send = scratch.get();
  return rest;
}

bool isCopiedBefore(const Operation& o) { return o.kind == Kind::allToAll && o.send == o.recv && o.send != nullptr; }

void checkBuffers(const Operation& o) {
  const Communicator& c = *o.communicator;
  const auto ranks = static_cast<size_t>(c.size());
  const bool isRoot = o.other == c.rank();
  size_t sent = 1, received = 1;  // in counts
  switch (o.kind) {
    case Kind::allReduce:
      break;
    case Kind::reduce:
      received = isRoot ? 1 : 0;
      break;
    case Kind::broadcast:
      sent = isRoot ? 1 : 0;
      break;
    case Kind::allGather:
      received = ranks;
      break;
    case Kind::reduceScatter:
      sent = ranks;
      break;
    case Kind::allToAll:
      sent = received = ranks;
      break;
    case Kind::gather:
      received = isRoot ? ranks : 0;
      break;
    case Kind::scatter:
      sent = isRoot ? ranks : 0;
      break;
    case Kind::send:
      received = 0;
      break;
    case Kind::receive:
      sent = 0;
      break;
  }
  if (o.count == 0) return;
  if (sent != 0) checkDeviceBuffer("send", o.send, bytesOf(o, sent), typeOf(o), c.device);
  if (received != 0) checkDeviceBuffer("receive", o.recv, bytesOf(o, received), typeOf(o), c.device);
}

}  // namespace dfccl::nccl

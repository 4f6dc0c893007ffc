#include "backend.hpp"
#include "device_stream.hpp"
#include "operation.hpp"

namespace dfccl_torch {
namespace {

constexpr Label kBarrier{c10d::OpType::BARRIER, "dfccl:barrier"};

}  // namespace

/// The host waits, whatever the tensors of the group's other operations are on. What the GPU was given before belongs
/// to what the others wait for.
DfcclBackend::Handle DfcclBackend::barrier(const c10d::BarrierOptions& options) {
  if (const std::optional<c10::Device> gpu = membership_.gpu()) currentStream(*gpu).synchronize();
  Operation operation(*this, kBarrier, c10::kCPU, options);
  operation.add([&](dfcclRequest_t* request) {
    return dfcclBarrier(operation.group(), operation.tag(0), operation.stream(), request);
  });
  return operation.start({}, {});
}

}  // namespace dfccl_torch

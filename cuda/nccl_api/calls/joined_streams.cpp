#include "nccl_api/calls/joined_streams.hpp"

#include <algorithm>

#include "host/driver/check.hpp"
#include "nccl_api/universe/failure.hpp"

namespace dfccl::nccl {
namespace {

/// Lets a stream go on only when another has done what it was given. @pre their device is current. @throws Failure
void letWait(cudaStream_t stream, cudaStream_t other) {
  if (stream == other) return;
  cudaEvent_t event = nullptr;
  checkCuda(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "cudaEventCreate");
  cudaError_t error = cudaEventRecord(event, other);
  if (error == cudaSuccess) error = cudaStreamWaitEvent(stream, event, 0);
  cudaEventDestroy(event);
  checkCuda(error, "a wait for another stream");
}

}  // namespace

JoinedStreams::JoinedStreams(const std::vector<Operation>& operations) {
  // The common case, in which nothing is to be looked for.
  const Operation& first = operations.front();
  if (std::all_of(operations.begin(), operations.end(), [&](const Operation& o) {
        return o.stream == first.stream && o.communicator->device == first.communicator->device;
      })) {
    return;
  }
  for (const Operation& o : operations) ofDevice_[o.communicator->device].insert(o.stream);
}

void JoinedStreams::join() const {
  for (const auto& [device, streams] : ofDevice_) {
    if (streams.size() == 1) continue;
    const gpu::OnDevice here(device);
    for (const cudaStream_t stream : streams) letWait(*streams.begin(), stream);
    for (const cudaStream_t stream : streams) letWait(stream, *streams.begin());
  }
}

}  // namespace dfccl::nccl

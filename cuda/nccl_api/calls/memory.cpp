// Memory for buffers, and its registration, which buffers don't need here.
#include <string>

#include "entry_points.hpp"
#include "functions.hpp"
#include "host/driver/relaxed_capture.hpp"
#include "nccl_api/calls/communicator.hpp"
#include "nccl_api/calls/falling_back.hpp"
#include "nccl_api/universe/arguments.hpp"

namespace dfccl::nccl {

ncclResult_t memAlloc(void** memory, size_t bytes) {
  checkOut(memory, "memory");
  *memory = nullptr;
  // Its windows want memory of its own.
  if (RealNccl::isForAll()) {
    RealNccl::open();
    return callReal<decltype(ncclMemAlloc)>("ncclMemAlloc", memory, bytes);
  }
  const gpu::RelaxedCapture relaxed;
  if (bytes != 0) checkCuda(cudaMalloc(memory, bytes), "cudaMalloc");
  return ncclSuccess;
}

ncclResult_t memFree(void* memory) {
  if (RealNccl::isForAll()) {
    RealNccl::open();
    return callReal<decltype(ncclMemFree)>("ncclMemFree", memory);
  }
  const gpu::RelaxedCapture relaxed;
  if (memory != nullptr) checkCuda(cudaFree(memory), "cudaFree");
  return ncclSuccess;
}

ncclResult_t commRegister(ncclComm_t comm, void* buffer, size_t bytes, void** handle) {
  checkOut(handle, "handle");
  *handle = nullptr;
  readyCommunicator(comm);
  if (buffer == nullptr || bytes == 0) {
    refuseArgument("The buffer is null, or has " + std::to_string(bytes) + " bytes.",
                   "Pass memory of the rank's device.");
  }
  *handle = buffer;  // which says all that there is to be said of it
  return ncclSuccess;
}

ncclResult_t commDeregister(ncclComm_t comm, void*) {
  Communicators::find(comm);
  return ncclSuccess;
}

// Programs look at the window as well as at what is returned, and free it, whatever it is, when they end.
ncclResult_t commWindowRegister(ncclComm_t, void*, size_t, ncclWindow_t* window, int) {
  if (window != nullptr) *window = nullptr;
  throw Failure(ncclInvalidUsage, "There are no windows; call collectives with the buffer itself.");
}

ncclResult_t commWindowDeregister(ncclComm_t comm, ncclWindow_t window) {
  Communicators::find(comm);
  if (window != nullptr) throw Failure(ncclInvalidUsage, "There are no windows.");
  return ncclSuccess;
}

}  // namespace dfccl::nccl

// Memory for buffers, and its registration, which buffers don't need here.
#include <string>

#include "functions.hpp"
#include "nccl_api/communicator.hpp"
#include "nccl_api/failure.hpp"

namespace dfccl::nccl {

ncclResult_t memAlloc(void** memory, size_t bytes) {
  if (memory == nullptr) refuseArgument("The address for the memory is null.", "Pass where to store it.");
  *memory = nullptr;
  if (bytes != 0) checkCuda(cudaMalloc(memory, bytes), "cudaMalloc");
  return ncclSuccess;
}

ncclResult_t memFree(void* memory) {
  if (memory != nullptr) checkCuda(cudaFree(memory), "cudaFree");
  return ncclSuccess;
}

ncclResult_t commRegister(ncclComm_t comm, void* buffer, size_t bytes, void** handle) {
  if (handle == nullptr) refuseArgument("The address for the handle is null.", "Pass where to store it.");
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

}  // namespace dfccl::nccl

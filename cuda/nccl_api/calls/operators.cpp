// Operators that multiply before they add.
#include <cuda_runtime_api.h>

#include <cstdint>
#include <string>

#include "base/types.hpp"
#include "functions.hpp"
#include "host/driver/memory.hpp"
#include "nccl_api/calls/communicator.hpp"
#include "nccl_api/universe/arguments.hpp"

namespace dfccl::nccl {
namespace {

/// A kernel reads it, and a GPU whose kernel reads what isn't there is lost. Pinned memory of the host's will do.
void checkReadable(const void* scalar, size_t bytes, int device) {
  const gpu::OnDevice here(device);
  if (reinterpret_cast<uintptr_t>(scalar) % bytes != 0) {
    refuseArgument("The scalar is not aligned to its " + std::to_string(bytes) + " bytes.", "Pass one that is.");
  }
  cudaPointerAttributes found{};
  const cudaError_t error = cudaPointerGetAttributes(&found, scalar);
  if (error != cudaSuccess) cudaGetLastError();
  bool isReadable = error == cudaSuccess;
  if (isReadable && found.type == cudaMemoryTypeDevice) isReadable = found.device == device;
  if (isReadable && found.type == cudaMemoryTypeUnregistered) {
    int readsAll = 0;
    isReadable =
        cudaDeviceGetAttribute(&readsAll, cudaDevAttrPageableMemoryAccess, device) == cudaSuccess && readsAll != 0;
  }
  if (isReadable) return;
  refuseArgument("The scalar is no memory that device " + std::to_string(device) + " can read.",
                 "Pass that device's memory or pinned memory, or say that it is the host's (ncclScalarHostImmediate).");
}

}  // namespace

ncclResult_t redOpCreatePreMulSum(ncclRedOp_t* op, void* scalar, ncclDataType_t type, ncclScalarResidence_t residence,
                                  ncclComm_t comm) {
  checkOut(op, "operator");
  if (scalar == nullptr) refuseArgument("The scalar's address is null.", "Pass a value of the operator's type.");
  checkType(type);
  const std::shared_ptr<Communicator> communicator = readyCommunicator(comm);
  Scalar made{type};
  if (residence == ncclScalarHostImmediate) {
    std::memcpy(&made.bits, scalar, sizeOf(static_cast<DataType>(type)));
  } else if (residence == ncclScalarDevice) {
    checkReadable(scalar, sizeOf(static_cast<DataType>(type)), communicator->device);
    made.onDevice = scalar;
  } else {
    refuseArgument("The scalar's residence is " + std::to_string(residence) + ".", "Allowed: 0 (device), 1 (host).");
  }
  *op = communicator->scaledSums().add(made);
  return ncclSuccess;
}

ncclResult_t redOpDestroy(ncclRedOp_t op, ncclComm_t comm) {
  if (!Communicators::find(comm)->scaledSums().remove(op)) {
    refuseArgument("The communicator has no operator " + std::to_string(op) + " of its own.",
                   "Pass one that ncclRedOpCreatePreMulSum made for it, once.");
  }
  return ncclSuccess;
}

}  // namespace dfccl::nccl

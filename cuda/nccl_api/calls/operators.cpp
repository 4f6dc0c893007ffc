// Operators that multiply before they add.
#include <cuda_runtime_api.h>

#include <cstdint>
#include <string>

#include "base/types.hpp"
#include "functions.hpp"
#include "nccl_api/calls/communicator.hpp"
#include "nccl_api/universe/arguments.hpp"

namespace dfccl::nccl {
namespace {

/// A kernel reads it, and a GPU whose kernel reads what isn't there is lost. Pinned memory of the host's will do.
void checkReadable(const void* scalar, size_t bytes) {
  if (reinterpret_cast<uintptr_t>(scalar) % bytes != 0) {
    refuseArgument("The scalar is not aligned to its " + std::to_string(bytes) + " bytes.", "Pass one that is.");
  }
  cudaPointerAttributes found{};
  const cudaError_t error = cudaPointerGetAttributes(&found, scalar);
  if (error != cudaSuccess) cudaGetLastError();
  if (error == cudaSuccess && found.type != cudaMemoryTypeUnregistered) return;
  refuseArgument("The scalar is no memory that a GPU can read.",
                 "Pass device memory or pinned memory, or say that it is the host's (ncclScalarHostImmediate).");
}

}  // namespace

ncclResult_t redOpCreatePreMulSum(ncclRedOp_t* op, void* scalar, ncclDataType_t type, ncclScalarResidence_t residence,
                                  ncclComm_t comm) {
  checkOut(op, "operator");
  if (scalar == nullptr) refuseArgument("The scalar's address is null.", "Pass a value of the operator's type.");
  checkType(type);
  Scalar made{type};
  if (residence == ncclScalarHostImmediate) {
    std::memcpy(&made.bits, scalar, sizeOf(static_cast<DataType>(type)));
  } else if (residence == ncclScalarDevice) {
    checkReadable(scalar, sizeOf(static_cast<DataType>(type)));
    made.onDevice = scalar;
  } else {
    refuseArgument("The scalar's residence is " + std::to_string(residence) + ".", "Allowed: 0 (device), 1 (host).");
  }
  *op = readyCommunicator(comm)->scaledSums().add(made);
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

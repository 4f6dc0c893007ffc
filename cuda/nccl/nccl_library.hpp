#pragma once
// NCCL's functions, loaded at run time: this project doesn't link it, only measures itself beside it.
#include <cuda_runtime_api.h>

#include <cstddef>
#include <string>

#include "base/types.hpp"

namespace dfccl::gpu {

using NcclCommunicator = void*;
/// By which the ranks of a communicator find each other.
struct NcclUniqueId {
  char bytes[128];
};

/// Numbers of NCCL's own for types and operators.
int ncclTypeOf(DataType type);
/// @pre not scaledSum, for which operators are made, nor one of bits, which NCCL hasn't.
int ncclOpOf(ReduceOp op);

struct NcclLibrary {
  /// @param path of libnccl.so.2, or its name alone. NVLink multicast stays off unless NCCL_NVLS_ENABLE says otherwise:
  /// it can put the GPUs of a shared host out of service.
  /// @throws Error dfcclUnavailable
  explicit NcclLibrary(const std::string& path);
  /// @throws Error dfcclSystemError that names the call and what NCCL said.
  void check(int result, const char* call) const;
  /// "2.28.3"
  std::string versionText() const;

  int version = 0;
  int (*makeUniqueId)(NcclUniqueId*) = nullptr;
  int (*initializeRank)(NcclCommunicator*, int ranks, NcclUniqueId, int rank) = nullptr;
  int (*abort)(NcclCommunicator) = nullptr;
  int (*asyncError)(NcclCommunicator, int*) = nullptr;
  int (*groupStart)() = nullptr;
  int (*groupEnd)() = nullptr;
  int (*allReduce)(const void*, void*, size_t, int type, int op, NcclCommunicator, cudaStream_t) = nullptr;
  int (*reduceScatter)(const void*, void*, size_t, int type, int op, NcclCommunicator, cudaStream_t) = nullptr;
  int (*allGather)(const void*, void*, size_t, int type, NcclCommunicator, cudaStream_t) = nullptr;
  int (*broadcast)(const void*, void*, size_t, int type, int root, NcclCommunicator, cudaStream_t) = nullptr;
  int (*reduce)(const void*, void*, size_t, int type, int op, int root, NcclCommunicator, cudaStream_t) = nullptr;
  int (*send)(const void*, size_t, int type, int peer, NcclCommunicator, cudaStream_t) = nullptr;
  int (*receive)(void*, size_t, int type, int peer, NcclCommunicator, cudaStream_t) = nullptr;
  int (*createScaledSum)(int* op, void* scalar, int type, int residence, NcclCommunicator) = nullptr;
  int (*destroyOp)(int op, NcclCommunicator) = nullptr;
  // Since NCCL 2.28; before, they are made of sends and receives.
  int (*allToAll)(const void*, void*, size_t, int type, NcclCommunicator, cudaStream_t) = nullptr;
  int (*gather)(const void*, void*, size_t, int type, int root, NcclCommunicator, cudaStream_t) = nullptr;
  int (*scatter)(const void*, void*, size_t, int type, int root, NcclCommunicator, cudaStream_t) = nullptr;

 private:
  const char* (*errorString_)(int) = nullptr;
};

}  // namespace dfccl::gpu

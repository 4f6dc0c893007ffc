#include "host/driver/stream_memory.hpp"

#include <cuda.h>

#include <string>

namespace dfccl::gpu {
namespace {

using Operation = CUresult (*)(CUstream, CUdeviceptr, cuuint32_t, unsigned);

/// The runtime has no calls for them, and a program that links the driver's library doesn't start without one.
Operation find(const char* name) {
  void* found = nullptr;
  constexpr unsigned kSince = 12000;
  cudaDriverEntryPointQueryResult result{};
  const cudaError_t error = cudaGetDriverEntryPointByVersion(name, &found, kSince, cudaEnableDefault, &result);
  const bool isThere = error == cudaSuccess && result == cudaDriverEntryPointSuccess;
  return isThere ? reinterpret_cast<Operation>(found) : nullptr;
}

void carryOut(Operation operation, const char* name, cudaStream_t stream, const void* word, uint32_t value,
              unsigned flags) {
  if (operation == nullptr) {
    throw Error(dfcclUnavailable, std::string("The driver has no ") + name + ".",
                "Update the driver, or submit and wait without a stream.", {{"call", name}});
  }
  const CUresult result = operation(stream, reinterpret_cast<CUdeviceptr>(word), value, flags);
  if (result == CUDA_SUCCESS) return;
  throw Error(dfcclSystemError, std::string("CUDA refused ") + name + ", error " + std::to_string(result) + ".",
              "Look at what the stream did before: an earlier error stays with it.", {{"call", name}});
}

}  // namespace

void storeOnStream(cudaStream_t stream, void* word, uint32_t value) {
  static const char* const name = "cuStreamWriteValue32";
  static const Operation write = find(name);
  carryOut(write, name, stream, word, value, CU_STREAM_WRITE_VALUE_DEFAULT);
}

void waitOnStreamFor(cudaStream_t stream, const void* word, uint32_t value) {
  static const char* const name = "cuStreamWaitValue32";
  static const Operation wait = find(name);
  carryOut(wait, name, stream, word, value, CU_STREAM_WAIT_VALUE_GEQ);
}

}  // namespace dfccl::gpu

#include "host/driver/pointer_attributes.hpp"

#include <cuda.h>
#include <cuda_runtime_api.h>

namespace dfccl::gpu {
namespace {

bool get(CUpointer_attribute attribute, const void* address, void* value) {
  using GetAttribute = CUresult (*)(void*, CUpointer_attribute, CUdeviceptr);
  // The runtime doesn't ask for it, and a program that links the driver's library doesn't start without one.
  static const GetAttribute getAttribute = [] {
    void* found = nullptr;
    constexpr unsigned kSince = 4000;
    cudaDriverEntryPointQueryResult result{};
    const cudaError_t error =
        cudaGetDriverEntryPointByVersion("cuPointerGetAttribute", &found, kSince, cudaEnableDefault, &result);
    return error == cudaSuccess && result == cudaDriverEntryPointSuccess ? reinterpret_cast<GetAttribute>(found)
                                                                         : nullptr;
  }();
  return getAttribute != nullptr &&
         getAttribute(value, attribute, reinterpret_cast<CUdeviceptr>(address)) == CUDA_SUCCESS;
}

}  // namespace

MemoryRange rangeOf(const void* address) {
  CUdeviceptr first = 0;
  size_t bytes = 0;
  if (!get(CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, address, &first) ||
      !get(CU_POINTER_ATTRIBUTE_RANGE_SIZE, address, &bytes)) {
    return {};
  }
  return {first, bytes};
}

uint64_t identityOf(const void* address) {
  unsigned long long identity = 0;
  return get(CU_POINTER_ATTRIBUTE_BUFFER_ID, address, &identity) ? identity : 0;
}

bool isWithinReach(const void* address) {
  int isCapable = 0;
  return get(CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE, address, &isCapable) && isCapable != 0;
}

}  // namespace dfccl::gpu

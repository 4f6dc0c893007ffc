#include "host/driver/buffer_fault.hpp"

#include <cuda_runtime_api.h>

#include "host/driver/check.hpp"
#include "host/driver/pointer_attributes.hpp"

namespace dfccl::gpu {

std::optional<BufferFault> findFault(const void* address, uint64_t bytes, size_t element,
                                     const std::string& elementName, int device, MemoryRange& range) {
  const OnDevice here(device);
  cudaPointerAttributes attributes{};
  const bool isKnown = cudaPointerGetAttributes(&attributes, address) == cudaSuccess;
  if (!isKnown) cudaGetLastError();
  if (!isKnown || attributes.type != cudaMemoryTypeDevice) {
    return BufferFault{attributes.type == cudaMemoryTypeManaged ? "is managed memory" : "is not device memory",
                       "Pass memory of cudaMalloc on device " + std::to_string(device) + "."};
  }
  if (attributes.device != device) {
    return BufferFault{
        "lies on device " + std::to_string(attributes.device) + ", and the rank is on device " + std::to_string(device),
        "Allocate it after cudaSetDevice(" + std::to_string(device) + ")."};
  }
  if (reinterpret_cast<uintptr_t>(address) % element != 0) {
    return BufferFault{"is not aligned to the " + std::to_string(element) + " bytes of " + elementName,
                       "Begin the buffer at a multiple of " + std::to_string(element) + " bytes."};
  }
  range = rangeOf(address);
  const uint64_t offset = reinterpret_cast<uint64_t>(address) - range.first;
  if (range.bytes == 0 || offset + bytes <= range.bytes) return std::nullopt;
  return BufferFault{"has " + std::to_string(range.bytes - offset) + " bytes left in its allocation, and a run needs " +
                         std::to_string(bytes),
                     "Allocate as much as its count says."};
}

}  // namespace dfccl::gpu

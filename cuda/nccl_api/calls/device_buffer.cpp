#include "nccl_api/calls/device_buffer.hpp"

#include <cuda_runtime_api.h>

#include <string>

#include "host/driver/check.hpp"
#include "host/driver/pointer_attributes.hpp"
#include "nccl_api/universe/failure.hpp"

namespace dfccl::nccl {

void checkDeviceBuffer(const char* name, const void* address, uint64_t bytes, size_t element, int device) {
  if (bytes == 0) return;
  const std::string buffer = std::string("The ") + name + " buffer ", where = std::to_string(device);
  if (address == nullptr) refuseArgument(buffer + "is null.", "Pass memory of device " + where + ".");
  const gpu::OnDevice here(device);
  cudaPointerAttributes attributes{};
  if (cudaPointerGetAttributes(&attributes, address) != cudaSuccess) cudaGetLastError();
  if (attributes.type != cudaMemoryTypeDevice) {
    refuseArgument(buffer + "is not device memory.", "Pass memory of cudaMalloc on device " + where + ".");
  }
  if (attributes.device != device) {
    refuseArgument(buffer + "lies on device " + std::to_string(attributes.device) +
                       ", and the communicator's rank is on device " + where + ".",
                   "Allocate it after cudaSetDevice(" + where + ").");
  }
  if (reinterpret_cast<uintptr_t>(address) % element != 0) {
    refuseArgument(buffer + "is not aligned to the " + std::to_string(element) + " bytes of an element.",
                   "Begin it at a multiple of " + std::to_string(element) + " bytes.");
  }
  const MemoryRange range = gpu::rangeOf(address);
  const uint64_t offset = reinterpret_cast<uint64_t>(address) - range.first;
  if (range.bytes == 0 || bytes <= range.bytes - offset) return;
  refuseArgument(buffer + "has " + std::to_string(range.bytes - offset) + " bytes left in its allocation, and " +
                     std::to_string(bytes) + " are needed.",
                 "Allocate as much as the count says.");
}

}  // namespace dfccl::nccl

#include "nccl_api/calls/device_buffer.hpp"

#include <string>

#include "host/driver/buffer_fault.hpp"
#include "nccl_api/universe/failure.hpp"

namespace dfccl::nccl {

void checkDeviceBuffer(const char* name, const void* address, uint64_t bytes, DataType type, int device) {
  if (bytes == 0) return;
  MemoryRange range;
  const auto fault = gpu::findFault(address, bytes, sizeOf(type), nameOf(type), device, range);
  if (fault) refuseArgument("The " + std::string(name) + " buffer " + fault->what + ".", fault->remedy);
}

}  // namespace dfccl::nccl

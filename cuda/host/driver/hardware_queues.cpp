#include "host/driver/hardware_queues.hpp"

#include <algorithm>
#include <cstdlib>

namespace dfccl::gpu {

uint32_t hardwareQueues() {
  constexpr long kUsual = 8, kMost = 32;
  const char* const setting = std::getenv("CUDA_DEVICE_MAX_CONNECTIONS");
  const long said = setting == nullptr ? 0 : std::strtol(setting, nullptr, 10);
  return static_cast<uint32_t>(said <= 0 ? kUsual : std::min(said, kMost));
}

}  // namespace dfccl::gpu

#include "gpu_call.hpp"

namespace dfccl_torch {

bool GpuCall::isOver() const {
  const std::shared_ptr<Universe> universe = universe_.lock();
  return !universe || universe->gpu();
}

bool GpuCall::isMade() const {
  const std::shared_ptr<Universe> universe = universe_.lock();
  return universe && universe->isCalledToGpu();
}

void GpuCall::tell(c10::DeviceIndex device) const {
  if (const std::shared_ptr<Universe> universe = universe_.lock()) universe->tellGpu({c10::kCUDA, device});
}

bool GpuCall::join() const {
  const std::shared_ptr<Universe> universe = universe_.lock();
  return universe && universe->joinOnGpu();
}

}  // namespace dfccl_torch

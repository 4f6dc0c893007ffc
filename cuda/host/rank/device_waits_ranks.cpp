// The ranks of this process on a device, and their places in its tables.
#include <algorithm>

#include "host/driver/check.hpp"
#include "host/rank/device_waits.hpp"

namespace dfccl::gpu {

void DeviceWaits::enter(GpuRank& rank) {
  const std::unique_lock lock(mutex_);
  present_.push_back(&rank);
}

void DeviceWaits::leave(GpuRank& rank) {
  const std::unique_lock lock(mutex_);
  std::erase(present_, &rank);
}

uint32_t DeviceWaits::claimPlace() {
  const std::unique_lock lock(mutex_);
  const auto free = std::find(isTaken_.begin(), isTaken_.end(), false);
  if (free == isTaken_.end()) return kNoPlace;
  *free = true;
  const auto place = static_cast<uint32_t>(free - isTaken_.begin());
  awaited_.clear(place);
  return place;
}

/// Whoever gives a stream a wait needs the lock, and another thread may have the driver until that wait is over.
uint32_t DeviceWaits::takePlace() {
  const uint32_t place = claimPlace();
  if (place == kNoPlace) return kNoPlace;
  try {
    const OnDevice here(device_);
    cudaStream_t stream = nullptr;
    DFCCL_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    DFCCL_CUDA(cudaMemsetAsync(&ranks_[place], 0, sizeof *ranks_, stream));
    DFCCL_CUDA(cudaStreamSynchronize(stream));
    DFCCL_CUDA(cudaStreamDestroy(stream));
  } catch (...) {
    giveBack(place);
    throw;
  }
  awaited_.isRank[place].store(1, order::release);
  return place;
}

void DeviceWaits::giveBack(uint32_t place) {
  if (place == kNoPlace) return;
  const std::unique_lock lock(mutex_);
  awaited_.isRank[place].store(0, order::release);
  isTaken_[place] = false;
}

}  // namespace dfccl::gpu

#include "simulated/device.hpp"

#include <algorithm>
#include <cstdlib>

namespace dfccl::gpu::simulated {

int Device::count() {
  const char* wanted = std::getenv("SIMULATED_DEVICES");
  return wanted != nullptr ? std::max(1, std::atoi(wanted)) : 4;
}

Device& Device::at(int number) {
  // Never destroyed: streams may still be at work when the process ends.
  static auto& all = *new std::vector<std::unique_ptr<Device>>();
  static std::once_flag isMade;
  std::call_once(isMade, [] {
    for (int i = 0; i < count(); ++i) all.push_back(std::unique_ptr<Device>(new Device(i)));
  });
  return *all.at(static_cast<size_t>(number));
}

Stream& Device::streamOf(void* handle, int currentDevice) {
  return handle != nullptr ? *static_cast<Stream*>(handle) : *at(currentDevice).own_;
}

Stream& Device::makeStream(int priority) {
  const int bounded = std::clamp(priority, kGreatestPriority, kLeastPriority);
  const std::lock_guard lock(listing_);
  HardwareQueue& queue = queues_[nextQueue_++ % kHardwareQueues];
  streams_.push_back(std::make_shared<Stream>(number_, bounded, queue));
  return *streams_.back();
}

void Device::destroyStream(Stream& stream) {
  const std::lock_guard lock(listing_);
  std::erase_if(streams_, [&](const auto& known) { return known.get() == &stream; });
}

void Device::launch(Stream& stream, std::function<void()> kernel, bool isShort) {
  const std::lock_guard lock(launching_);
  isShort ? stream.put(std::move(kernel)) : stream.putKernel(std::move(kernel));
}

void Device::copy(Stream& stream, const std::function<void()>& work) {
  const std::lock_guard lock(launching_);
  stream.putShort(work);
}

void Device::awaitIdle(bool keepsLaunchesOut) {
  std::unique_lock<std::mutex> keepsOut(launching_, std::defer_lock);
  if (keepsLaunchesOut) keepsOut.lock();
  std::vector<std::shared_ptr<Stream>> all{own_};
  {
    const std::lock_guard lock(listing_);
    all.insert(all.end(), streams_.begin(), streams_.end());
  }
  for (const auto& stream : all) stream->synchronize();
}

}  // namespace dfccl::gpu::simulated

#pragma once
#include <array>
#include <memory>
#include <mutex>
#include <vector>

#include "simulated/stream.hpp"

namespace dfccl::gpu::simulated {

/// A simulated device with its streams, which share hardware queues in turn.
class Device {
 public:
  static constexpr int kLeastPriority = 0, kGreatestPriority = -5;

  /// SIMULATED_DEVICES, or 4.
  static int count();
  /// @pre 0 <= number < count()
  static Device& at(int number);
  /// The stream that a handle stands for: of this thread's device where it is null.
  static Stream& streamOf(void* handle, int currentDevice);

  Stream& makeStream(int priority);
  void destroyStream(Stream& stream);

  /// As CUDA does it on H200s (decision 20): while one thread waits for the device, no other launches anything there.
  /// What streams were given before goes on, and so do waits for values.
  void launch(Stream& stream, std::function<void()> kernel, bool isShort = false);
  /// Copies are launched too.
  void copy(Stream& stream, const std::function<void()>& work);
  /// Until it has nothing to do. @param keepsLaunchesOut as cudaFree does, and cudaDeviceSynchronize doesn't.
  void awaitIdle(bool keepsLaunchesOut);

 private:
  /// CUDA's number, unless CUDA_DEVICE_MAX_CONNECTIONS says another.
  static constexpr size_t kHardwareQueues = 8;

  explicit Device(int number) : number_(number), own_(std::make_shared<Stream>(number, kLeastPriority, ownQueue_)) {}

  const int number_;
  HardwareQueue ownQueue_;
  std::array<HardwareQueue, kHardwareQueues> queues_;
  size_t nextQueue_ = 0;
  const std::shared_ptr<Stream> own_;  // the one that nobody made
  std::mutex launching_;
  std::mutex listing_;
  std::vector<std::shared_ptr<Stream>> streams_;
};

}  // namespace dfccl::gpu::simulated

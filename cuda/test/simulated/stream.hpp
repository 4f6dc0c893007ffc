#pragma once
#include <atomic>
#include <functional>
#include <memory>

#include "simulated/hardware_queue.hpp"

namespace dfccl::gpu::simulated {

/// A stream of a simulated device. What it was given is done also when it is gone.
class Stream {
 public:
  Stream(int device, int priority, HardwareQueue& queue) : device_(device), priority_(priority), queue_(queue) {}
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  int device() const { return device_; }
  int priority() const { return priority_; }

  void put(std::function<void()> work) { put(std::move(work), false); }
  /// What goes on for long without keeping other streams waiting.
  void putKernel(std::function<void()> kernel) { put(std::move(kernel), true); }
  /// What is soon done: on the caller's thread, if nothing is before it.
  void putShort(const std::function<void()>& work);
  bool isIdle() const;
  void synchronize() const;

  std::atomic<bool> isCapturing{false};
  /// Of no other stream, also after this one is gone.
  const unsigned long long id = ++made;

 private:
  void put(std::function<void()> work, bool isKernel);

  static inline std::atomic<unsigned long long> made{0};

  const int device_;
  const int priority_;
  HardwareQueue& queue_;
  const std::shared_ptr<StreamProgress> progress_ = std::make_shared<StreamProgress>();
};

}  // namespace dfccl::gpu::simulated

#pragma once
#include <atomic>
#include <cstdint>
#include <mutex>

namespace dfccl::gpu::simulated {

/// The lock of a process's context on a device. Tells who holds it and who waits, so that tests see
/// that a call is blocked.
class ContextLock {
 public:
  void lock() {
    if (!mutex_.try_lock()) {
      ++waiting_;
      mutex_.lock();
      --waiting_;
    }
    isHeld_ = true;
  }
  void unlock() {
    isHeld_ = false;
    mutex_.unlock();
  }

  uint32_t waiting() const { return waiting_; }
  bool isHeld() const { return isHeld_; }

 private:
  std::mutex mutex_;
  std::atomic<uint32_t> waiting_{0};
  std::atomic<bool> isHeld_{false};
};

}  // namespace dfccl::gpu::simulated

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
    ++taken_;
    taken_.notify_all();
  }
  void unlock() {
    isHeld_ = false;
    mutex_.unlock();
  }

  /// How often it will have been taken when all that wait for it now have had it. @pre the caller holds it
  uint64_t turnsToCome() const { return taken_ + waiting_; }
  /// Until it has been taken as often. @pre the caller doesn't hold it, so that those who wait get it.
  void awaitTurns(uint64_t turns) const {
    for (uint64_t taken = taken_; taken < turns; taken = taken_) taken_.wait(taken);
  }

  uint32_t waiting() const { return waiting_; }
  bool isHeld() const { return isHeld_; }

 private:
  std::mutex mutex_;
  std::atomic<uint32_t> waiting_{0};
  std::atomic<bool> isHeld_{false};
  std::atomic<uint64_t> taken_{0};  // times
};

}  // namespace dfccl::gpu::simulated

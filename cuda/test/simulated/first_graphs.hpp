#pragma once
#include <condition_variable>
#include <mutex>
#include <utility>

namespace dfccl::gpu::simulated {

/// Graphs before which their streams had no kernel and no copy, on a device: one at a time.
class FirstGraphs {
 public:
  /// One is launched. @return whether none is under way; if so end() has to follow.
  bool launch() {
    const std::lock_guard lock(mutex_);
    return !std::exchange(isUnderWay_, true);
  }
  void end() {
    const std::lock_guard lock(mutex_);
    isUnderWay_ = false;
    changed_.notify_all();
  }
  void await() {
    std::unique_lock lock(mutex_);
    ++waiting_;
    changed_.wait(lock, [this] { return !isUnderWay_; });
    --waiting_;
  }
  bool isAwaited() const {
    const std::lock_guard lock(mutex_);
    return waiting_ != 0;
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool isUnderWay_ = false;
  int waiting_ = 0;
};

}  // namespace dfccl::gpu::simulated

#pragma once
// A simulated device's multiprocessors, as far as kernels hold them that wait for others: each block of a daemon, and
// each run that is a kernel in a stream.
#include <cstdint>
#include <mutex>
#include <thread>

#include "simulated/slices.hpp"
#include "simulated/unkindness.hpp"

namespace dfccl::gpu::simulated {

class Multiprocessors {
 public:
  /// As CUDA tells how many there are.
  static int64_t said() { return unkindness().boasts.isOn() ? kAnyNumber : count(); }

  /// By a kernel, when so many are free.
  void take(int64_t wanted) {
    while (!tryTake(wanted)) {
      step();
      std::this_thread::yield();
    }
  }
  void giveBack(int64_t taken) {
    const std::lock_guard lock(mutex_);
    taken_ -= taken;
  }

 private:
  static constexpr int64_t kAnyNumber = 1'000'000;
  static int64_t count() {
    const int64_t count = unkindness().multiprocessors.value();
    return count == 0 ? kAnyNumber : count;
  }
  bool tryTake(int64_t wanted) {
    const std::lock_guard lock(mutex_);
    if (taken_ + wanted > count()) return false;
    taken_ += wanted;
    return true;
  }

  std::mutex mutex_;
  int64_t taken_ = 0;
};

}  // namespace dfccl::gpu::simulated

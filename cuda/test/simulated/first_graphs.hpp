#pragma once
#include <atomic>
#include <mutex>

namespace dfccl::gpu::simulated {

/// Graphs before which their streams had no kernel and no copy, on a device: one at a time.
class FirstGraphs {
 public:
  template <class Work>
  void carryOut(const Work& work) {
    std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock) {
      ++waiting_;
      lock.lock();
      --waiting_;
    }
    work();
  }
  bool isAwaited() const { return waiting_ != 0; }

 private:
  std::mutex mutex_;
  std::atomic<int> waiting_{0};
};

}  // namespace dfccl::gpu::simulated

#pragma once
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>

namespace dfccl::gpu::simulated {

/// What a stream has been given and not done.
struct StreamProgress {
  std::mutex mutex;
  std::condition_variable changed;
  size_t pending = 0;
  bool hasKernel = false;  // one is running
};

/// What a device's streams are given goes through few of these, one piece of work after the other: a stream that waits
/// keeps all others of its queue waiting. A kernel leaves the queue when it begins; what its stream is given next waits
/// at the head for its end. Lives as long as the process.
class HardwareQueue {
 public:
  struct Work {
    std::function<void()> act;
    bool isKernel;
    std::shared_ptr<StreamProgress> stream;
  };

  void put(Work work);

 private:
  void workOff();
  static void perform(const Work& work);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Work> waiting_;
  bool hasThread_ = false;
};

}  // namespace dfccl::gpu::simulated

#pragma once
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>

namespace dfccl::gpu::simulated {

/// What a stream has been given and what of it is done. In order, so two counts say which.
struct StreamProgress {
  std::mutex mutex;
  std::condition_variable changed;
  uint64_t given = 0, done = 0;
  bool hasKernel = false;  // one is running

  /// Until as much as that is done.
  void await(uint64_t count);
};

/// Keeps kernels from beginning, while a test wants it so.
class KernelGate {
 public:
  void close() { set(+1); }
  void open() { set(-1); }
  void pass();

 private:
  void set(int change);

  std::mutex mutex_;
  std::condition_variable changed_;
  int closed_ = 0;
};

/// What a device's streams are given goes through few of these, one piece of work after the other: a stream that waits
/// keeps all others of its queue waiting. A kernel leaves the queue when it begins; what its stream is given next waits
/// at the head for its end. Lives as long as the process.
class HardwareQueue {
 public:
  enum class Kind {
    brief,   // a copy, a store: done at the head
    kernel,  // leaves the head when it begins
    wait     // stays at the head, and is no work of the device's
  };
  struct Work {
    std::function<void()> act;
    Kind kind;
    std::shared_ptr<StreamProgress> stream;
  };

  HardwareQueue(int device, KernelGate& gate) : device_(device), gate_(gate) {}

  void put(Work work);

 private:
  void workOff();
  void perform(const Work& work);

  const int device_;
  KernelGate& gate_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Work> waiting_;
  bool hasThread_ = false;
};

}  // namespace dfccl::gpu::simulated

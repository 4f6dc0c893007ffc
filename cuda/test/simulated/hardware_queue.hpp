#pragma once
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>

#include "simulated/load_barrier.hpp"
#include "simulated/stream_progress.hpp"

namespace dfccl::gpu::simulated {

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
    std::shared_ptr<const GivenBefore> behind;  // what it waits for at the head; nullptr: nothing
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

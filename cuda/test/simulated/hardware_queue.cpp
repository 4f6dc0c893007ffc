#include "simulated/hardware_queue.hpp"

#include <thread>

namespace dfccl::gpu::simulated {
namespace {

void noteDone(StreamProgress& stream, bool wasKernel) {
  const std::lock_guard lock(stream.mutex);
  if (wasKernel) stream.hasKernel = false;
  --stream.pending;
  stream.changed.notify_all();
}

}  // namespace

void HardwareQueue::put(Work work) {
  const std::lock_guard lock(mutex_);
  waiting_.push_back(std::move(work));
  changed_.notify_all();
  if (hasThread_) return;
  hasThread_ = true;
  std::thread([this] { workOff(); }).detach();
}

void HardwareQueue::workOff() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return !waiting_.empty(); });
    const Work next = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    perform(next);
    lock.lock();
  }
}

void HardwareQueue::perform(const Work& work) {
  StreamProgress& stream = *work.stream;
  {
    std::unique_lock lock(stream.mutex);
    stream.changed.wait(lock, [&] { return !stream.hasKernel; });
    stream.hasKernel = work.isKernel;
  }
  if (!work.isKernel) {
    work.act();
    return noteDone(stream, false);
  }
  std::thread([work] {
    work.act();
    noteDone(*work.stream, true);
  }).detach();
}

}  // namespace dfccl::gpu::simulated

#include "simulated/hardware_queue.hpp"

#include <thread>

#include "simulated/chance.hpp"
#include "simulated/slices.hpp"

namespace dfccl::gpu::simulated {
namespace {

void noteDone(StreamProgress& stream, bool wasKernel) {
  const std::lock_guard lock(stream.mutex);
  if (wasKernel) stream.hasKernel = false;
  ++stream.done;
  stream.changed.notify_all();
}

void actOn(int device, const std::function<void()>& act) {
  const AtWork atWork(device);
  act();
}

}  // namespace

void StreamProgress::await(uint64_t count) {
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return done >= count; });
}

void KernelGate::set(int change) {
  const std::lock_guard lock(mutex_);
  closed_ += change;
  changed_.notify_all();
}

void KernelGate::pass() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return closed_ == 0; });
}

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
  // Of that, what is in this queue was before it there.
  if (work.behind != nullptr) work.behind->await();
  const bool isKernel = work.kind == Kind::kernel;
  {
    std::unique_lock lock(stream.mutex);
    stream.changed.wait(lock, [&] { return !stream.hasKernel; });
  }
  if (!isKernel) {
    work.kind == Kind::wait ? work.act() : actOn(device_, work.act);
    return noteDone(stream, false);
  }
  // What has not begun has not left the queue.
  gate_.pass();
  mayBeLate();
  {
    const std::lock_guard lock(stream.mutex);
    stream.hasKernel = true;
  }
  std::thread([device = device_, work] {
    actOn(device, work.act);
    noteDone(*work.stream, true);
  }).detach();
}

}  // namespace dfccl::gpu::simulated

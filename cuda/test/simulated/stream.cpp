#include "simulated/stream.hpp"

#include "simulated/kept_giver.hpp"
#include "simulated/unkindness.hpp"

namespace dfccl::gpu::simulated {

void Stream::put(std::function<void()> work, HardwareQueue::Kind kind) {
  enqueue(std::move(work), kind);
  noteGiven(*this);
}

void Stream::enqueue(std::function<void()> work, HardwareQueue::Kind kind) {
  const auto room = static_cast<uint64_t>(unkindness().launchQueue.value());
  StreamProgress& progress = *progress_;
  const auto hasRoom = [&] { return room == 0 || progress.given - progress.done < room; };
  while (true) {
    {
      // Before Giving, which keeps barriers from being raised.
      std::unique_lock lock(progress.mutex);
      progress.changed.wait(lock, hasRoom);
    }
    const LoadBarrier::Giving giving(barrier_);
    auto behind = giving.behind();
    const std::lock_guard lock(progress.mutex);
    if (!hasRoom()) continue;
    ++progress.given;
    // Under the lock: what another stream waits for stands before that wait, if both go through one queue.
    return queue_.put({std::move(work), kind, progress_, std::move(behind)});
  }
}

void Stream::putShort(const std::function<void()>& work) {
  {
    const LoadBarrier::Giving giving(barrier_);
    const bool isBehind = giving.behind() != nullptr;
    // Whoever else gives the stream something comes behind.
    const std::lock_guard lock(progress_->mutex);
    if (!isBehind && progress_->given == progress_->done) return work();
  }
  putBrief(work);
}

StreamPosition Stream::last() const {
  const std::lock_guard lock(progress_->mutex);
  return {progress_, progress_->given};
}

}  // namespace dfccl::gpu::simulated

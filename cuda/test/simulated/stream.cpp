#include "simulated/stream.hpp"

#include "simulated/unkindness.hpp"

namespace dfccl::gpu::simulated {

void Stream::put(std::function<void()> work, HardwareQueue::Kind kind) {
  const auto room = static_cast<uint64_t>(unkindness().launchQueue.value());
  StreamProgress& progress = *progress_;
  std::unique_lock lock(progress.mutex);
  if (room != 0) progress.changed.wait(lock, [&] { return progress.given - progress.done < room; });
  ++progress.given;
  // Under the lock: what another stream waits for stands before that wait, if both go through one queue.
  queue_.put({std::move(work), kind, progress_});
}

void Stream::putShort(const std::function<void()>& work) {
  {
    // Whoever else gives the stream something comes behind.
    const std::lock_guard lock(progress_->mutex);
    if (progress_->given == progress_->done) return work();
  }
  putBrief(work);
}

Place Stream::last() const {
  const std::lock_guard lock(progress_->mutex);
  return {progress_, progress_->given};
}

}  // namespace dfccl::gpu::simulated

#include "simulated/stream.hpp"

namespace dfccl::gpu::simulated {

void Stream::put(std::function<void()> work, bool isKernel) {
  {
    const std::lock_guard lock(progress_->mutex);
    ++progress_->pending;
  }
  queue_.put({std::move(work), isKernel, progress_});
}

void Stream::putShort(const std::function<void()>& work) {
  {
    // Whoever else gives the stream something comes behind.
    const std::lock_guard lock(progress_->mutex);
    if (progress_->pending == 0) return work();
  }
  put(work);
}

bool Stream::isIdle() const {
  const std::lock_guard lock(progress_->mutex);
  return progress_->pending == 0;
}

void Stream::synchronize() const {
  const std::shared_ptr<StreamProgress> progress = progress_;
  std::unique_lock lock(progress->mutex);
  progress->changed.wait(lock, [&] { return progress->pending == 0; });
}

}  // namespace dfccl::gpu::simulated

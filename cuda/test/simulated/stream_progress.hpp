#pragma once
#include <condition_variable>
#include <cstdint>
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

/// A place in what a stream was given: up to there, it is done or it isn't.
struct StreamPosition {
  std::shared_ptr<StreamProgress> stream;
  uint64_t count = 0;

  bool isReached() const {
    if (stream == nullptr) return true;
    const std::lock_guard lock(stream->mutex);
    return stream->done >= count;
  }
  void await() const {
    if (stream != nullptr) stream->await(count);
  }
};

}  // namespace dfccl::gpu::simulated

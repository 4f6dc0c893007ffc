#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <shared_mutex>
#include <vector>

#include "simulated/stream_progress.hpp"

namespace dfccl::gpu::simulated {

/// Everything that a device's streams had been given at some time.
class GivenBefore {
 public:
  explicit GivenBefore(std::vector<StreamPosition> places) : places_(std::move(places)) {}

  bool isDone() const;
  void await() const;

 private:
  const std::vector<StreamPosition> places_;
  mutable std::atomic<bool> isDone_{false};  // so that it is looked for once
};

/// What a launch leaves behind that had to load its module: all that the device's streams are given from then on waits
/// for all that they had been given.
class LoadBarrier {
 public:
  /// @param given what streams have been given; asked for while none is given more.
  void raise(const std::function<std::vector<StreamPosition>()>& given);

  /// A stream is being given something, which so comes before a barrier or behind it, and not in between.
  class Giving {
   public:
    explicit Giving(LoadBarrier& barrier) : lock_(barrier.mutex_), behind_(barrier.last_) {}
    /// What it has to wait for; nullptr: for nothing.
    std::shared_ptr<const GivenBefore> behind() const { return behind_ && behind_->isDone() ? nullptr : behind_; }

   private:
    const std::shared_lock<std::shared_mutex> lock_;
    const std::shared_ptr<const GivenBefore>& behind_;
  };

 private:
  std::shared_mutex mutex_;
  std::shared_ptr<const GivenBefore> last_;  // whoever is behind it is behind those before it
};

}  // namespace dfccl::gpu::simulated

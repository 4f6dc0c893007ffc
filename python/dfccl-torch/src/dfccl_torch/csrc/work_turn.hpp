#pragma once
#include "work.hpp"

namespace dfccl_torch {

/// The right to use the submission, given back in the end.
class DfcclWork::Turn {
 public:
  /// @pre `lock` is held, and nobody has the turn. The lock is free while the turn lasts.
  Turn(DfcclWork& work, Lock& lock) : work_(work), lock_(lock) {
    work_.isTaken_ = true;
    lock_.unlock();
  }
  ~Turn() {
    lock_.lock();
    // Somebody may have asked for the future while this thread waited in vain.
    while (!work_.completed_ && work_.future_ && !work_.isWatched_) {
      lock_.unlock();
      work_.watchForFuture();
      lock_.lock();
    }
    work_.isTaken_ = false;
    work_.cv_.notify_all();
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  DfcclWork& work_;
  Lock& lock_;
};

}  // namespace dfccl_torch

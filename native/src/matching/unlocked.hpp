#pragma once
#include <mutex>

#include "matching/matched_collective.hpp"

namespace dfccl {

/// The lock is open meanwhile, and the collective is not forgotten.
class Unlocked {
 public:
  Unlocked(std::unique_lock<std::mutex>& lock, MatchedCollective& entry) : lock_(lock), entry_(entry) {
    ++entry_.pins;
    lock_.unlock();
  }
  ~Unlocked() {
    lock_.lock();
    --entry_.pins;
  }
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;

 private:
  std::unique_lock<std::mutex>& lock_;
  MatchedCollective& entry_;
};

}  // namespace dfccl

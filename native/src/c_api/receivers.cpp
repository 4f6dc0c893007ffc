#include "c_api/receivers.hpp"

#include <sched.h>

#include <algorithm>

namespace dfccl::c_api {

void Receivers::enter(Matching& rank) {
  const std::lock_guard lock(mutex_);
  all_.push_back({&rank, 0});
}

void Receivers::leave(Matching& rank) {
  for (;; sched_yield()) {
    const std::lock_guard lock(mutex_);
    const auto found = std::find_if(all_.begin(), all_.end(), [&](const Receiver& one) { return one.rank == &rank; });
    if (found->looking != 0) continue;
    all_.erase(found);
    return;
  }
}

bool Receivers::lookForSenders() {
  if (isAnyExpected_.load(order::relaxed) == 0) return false;
  bool isAny = false;
  size_t at = 0;
  // Without the lock: what it receives may end a request, whose callback may do anything.
  while (Matching* const rank = takeNext(at)) {
    isAny |= rank->lookForSenders();
    giveBack(*rank);
  }
  return isAny;
}

bool Receivers::areLooking() {
  if (isAnyExpected_.load(order::relaxed) == 0) return false;
  const std::lock_guard lock(mutex_);
  return std::any_of(all_.begin(), all_.end(), [](const Receiver& one) { return one.rank->openReceives() != 0; });
}

/// The next from `at` on that has receives from anybody. @return null: none has, or another thread is looking.
Matching* Receivers::takeNext(size_t& at) {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock) return nullptr;
  while (at < all_.size()) {
    Receiver& one = all_[at++];
    if (one.rank->openReceives() == 0) continue;
    ++one.looking;
    return one.rank;
  }
  return nullptr;
}

void Receivers::giveBack(const Matching& rank) {
  const std::lock_guard lock(mutex_);
  --std::find_if(all_.begin(), all_.end(), [&](const Receiver& one) { return one.rank == &rank; })->looking;
}

}  // namespace dfccl::c_api

#include "c_api/receivers.hpp"

#include <sched.h>

#include <algorithm>
#include <exception>

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
  struct Turn {
    ~Turn() { all.giveBack(rank); }
    Receivers& all;
    Matching& rank;
  };
  bool isAny = false;
  size_t at = 0;
  // Without the lock: what it receives may end a request, whose callback may do anything.
  while (Matching* const rank = takeNext(at)) {
    const Turn turn{*this, *rank};
    isAny |= rank->lookForSenders();
  }
  return isAny;
}

bool Receivers::areLooking() {
  if (isAnyExpected_.load(order::relaxed) == 0) return false;
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock) return true;  // another thread is at it
  return std::any_of(all_.begin(), all_.end(), [](const Receiver& one) { return one.rank->openReceives() != 0; });
}

bool Receivers::lookInBackground() {
  try {
    lookForSenders();
    return areLooking();
  } catch (const std::exception&) {
    return true;  // there may be memory for it later; whoever waits for a rank is told
  }
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

#include "group.hpp"

#include <unistd.h>

#include "error.hpp"
#include "hash.hpp"

namespace dfccl_torch {

Group::Group(std::shared_ptr<World> world, const std::vector<int>& worldRanks, const std::string& name)
    : world_(std::move(world)), name_(name), process_(getpid()) {
  const auto count = static_cast<int>(worldRanks.size());
  check(dfcclGroupCreate(worldRanks.data(), count, hashOf(name), &handle_, world_->ctx()), "making group " + name);
}

Group::~Group() {
  // What is in flight keeps the group, so there is nothing to be told: after an abort the world's end takes the rest.
  if (isOfThisProcess()) dfcclGroupDestroy(handle_);
}

bool Group::isOfThisProcess() const { return process_ == getpid(); }

void Group::noteGivenUp(const char* what, const std::string& reason) {
  const std::lock_guard lock(mutex_);
  if (isAnyGivenUp_.load(std::memory_order_relaxed)) return;  // the first
  givenUp_ = std::string(what) + " in group " + name_ + ", for which nobody waited on the host: " + reason;
  isAnyGivenUp_.store(true, std::memory_order_release);
}

void Group::tellGivenUp() {
  if (!isAnyGivenUp_.load(std::memory_order_acquire)) return;
  const std::lock_guard lock(mutex_);
  if (isAnyGivenUp_.exchange(false)) refuse(givenUp_, "What came of it since may be wrong.");
}

}  // namespace dfccl_torch

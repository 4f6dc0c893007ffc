#include "group.hpp"

#include <unistd.h>

#include <algorithm>

#include "error.hpp"
#include "hash.hpp"

namespace dfccl_torch {

Group::Group(std::shared_ptr<World> world, const std::vector<int>& worldRanks, const std::string& name)
    : world_(std::move(world)), worldRanks_(worldRanks), name_(name), process_(getpid()) {
  const auto count = static_cast<int>(worldRanks.size());
  check(dfcclGroupCreate(worldRanks.data(), count, hashOf(name), &handle_, world_->ctx()), "making group " + name);
}

Group::~Group() {
  // What is in flight keeps the group, so there is nothing to be told: after an abort the world's end takes the rest.
  if (process_ == getpid()) dfcclGroupDestroy(handle_);
}

void Group::expectAllThere(const char* what) const {
  int gone = 0;
  if (dfcclGetLostRanks(nullptr, 0, &gone, world_->ctx()) != dfcclSuccess || gone == 0) return;
  std::vector<int> ranks(static_cast<size_t>(gone));
  check(dfcclGetLostRanks(ranks.data(), gone, &gone, world_->ctx()), "asking who is gone");
  for (size_t i = 0; i < std::min(ranks.size(), static_cast<size_t>(gone)); ++i) {
    const auto member = std::find(worldRanks_.begin(), worldRanks_.end(), ranks[i]);
    if (member == worldRanks_.end()) continue;
    refuse(std::string(what) + " in group " + name_ + ": rank " + std::to_string(member - worldRanks_.begin()) +
               " of the group is gone, and results that streams waited for since may be wrong.",
           "Make a group of the others, or start the ranks again from the last checkpoint.");
  }
}

}  // namespace dfccl_torch

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
  if (process_ == getpid()) dfcclGroupDestroy(handle_);
}

}  // namespace dfccl_torch

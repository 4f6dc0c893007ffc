#include "group.hpp"

#include <unistd.h>

#include <algorithm>
#include <limits>

#include "device_stream.hpp"
#include "error.hpp"
#include "hash.hpp"
#include "known_names.hpp"

namespace dfccl_torch {
namespace {

constexpr int kMostRanks = 1024;  // of a world

}  // namespace

Group::Group(std::shared_ptr<World> world, const std::vector<int>& worldRanks, const std::string& name,
             std::shared_ptr<const Positions> positions, std::shared_ptr<GivenUp> givenUp,
             std::optional<c10::Stream> own)
    : world_(std::move(world)),
      worldRanks_(worldRanks),
      name_(name),
      positions_(std::move(positions)),
      givenUp_(std::move(givenUp)),
      own_(own),
      process_(getpid()) {
  const uint64_t key = hashOf(own_ ? name + "/in streams" : name);
  noteGroup(key, name);
  const auto count = static_cast<int>(worldRanks.size());
  check(dfcclGroupCreate(worldRanks.data(), count, key, &handle_, world_->ctx()), "making group " + name);
  if (!own_) return;
  // For all: whoever asks by the request may be in another stream, or on the host.
  const dfcclResult_t result = dfcclGroupRunInStreams(handle_, std::numeric_limits<size_t>::max(), 0, dfcclForAll);
  if (result == dfcclUnavailable) {
    giveBackStream(*own_);
    own_.reset();  // there are more than 64 members, which all of them find alike
  } else {
    check(result, "making group " + name + ", in streams");
  }
}

Group::~Group() {
  // What is in flight keeps the group, so there is nothing to be told: after an abort the world's end takes the rest.
  if (isOfThisProcess()) dfcclGroupDestroy(handle_);
  if (own_) giveBackStream(*own_);
}

int Group::worldRank() const {
  int rank = -1;
  check(dfcclGetRank(&rank, world_->ctx()), "asking for this rank");
  return rank;
}

bool Group::isOfThisProcess() const { return process_ == getpid(); }

std::string Group::whyGivenUp() const {
  std::vector<int> lost(kMostRanks);
  int count = 0;
  if (dfcclGetLostRanks(lost.data(), kMostRanks, &count, world_->ctx()) != dfcclSuccess) count = 0;
  std::string gone;
  for (int i = 0; i < std::min(count, kMostRanks); ++i) {
    if (std::find(worldRanks_.begin(), worldRanks_.end(), lost[i]) == worldRanks_.end()) continue;
    gone += (gone.empty() ? "rank " : ", rank ") + std::to_string(lost[i]) + "'s";
  }
  if (gone.empty()) return "It was given up by abort(), on this rank or another one. Make another group.";
  return "It was given up: " + gone +
         " process has ended, or has destroyed its process groups. Destroy the group (destroy_process_group), and "
         "begin "
         "again with the ranks that are left.";
}

void Group::noteGivenUp(const char* what, const std::string& reason) {
  givenUp_->note(std::string(what) + " in group " + name_ + ", for which nobody waited on the host: " + reason);
}

void Group::tellGivenUp() {
  const std::string what = givenUp_->take();
  if (!what.empty()) refuse(what, "What came of it since may be wrong.");
}

void GivenUp::note(const std::string& what) {
  const std::lock_guard lock(mutex_);
  if (isAny_.load(std::memory_order_relaxed)) return;
  what_ = what;
  isAny_.store(true, std::memory_order_release);
}

std::string GivenUp::take() {
  if (!isAny_.load(std::memory_order_acquire)) return "";
  const std::lock_guard lock(mutex_);
  return isAny_.exchange(false) ? what_ : "";
}

}  // namespace dfccl_torch

#pragma once
// The groups that the ranks of a test's world register into, and the memory that these take their connectors from.
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "cpu/collective_group.hpp"
#include "world_shape.hpp"

namespace dfccl::test {

class TestGroups {
 public:
  explicit TestGroups(const WorldShape& shape) : mistakes_(shape.mistakes), arena_(shape.arenaBytes), pool_(arena_) {}

  ConnectorPool& pool() { return pool_; }

  /// The group that a rank joins which registers this: one that waits for it, or a new one.
  std::shared_ptr<CollectiveGroup> groupFor(const CollectiveSpec& spec, uint32_t member, uint64_t digest) {
    for (const std::shared_ptr<CollectiveGroup>& group : groups_) {
      if (group->spec().id != spec.id) continue;
      CollectiveShared& s = group->shared();
      if (s.isPoisoned() && mistakes_.reRegistersIntoAborted) {
        s.poisonedBy.store(CollectiveShared::kNobody, order::relaxed);
        s.registered.store(0, order::relaxed);
        return group;
      }
      const bool isReborn = mistakes_.reRegistersIntoAborted && !group->isMember(member);
      if (s.isPoisoned() || (group->hasJoined(member) && !isReborn)) continue;
      if (!mistakes_.ignoresDisagreement) group->checkAgreement(spec, digest, spec.ranks[member]);
      return group;
    }
    groups_.push_back(std::make_shared<CollectiveGroup>(spec, digest, arena_, pool_));
    ringProgress_.erase(&groups_.back()->shared());  // of a former one at its address
    return groups_.back();
  }

  /// What segments keep for groups whose runs may go through rings.
  void giveRingProgress(CollectiveGroup& group) {
    std::vector<RingProgress>& progress = ringProgress_[&group.shared()];
    if (progress.empty()) progress = std::vector<RingProgress>(group.spec().ranks.size());
    group.shared().ringProgress = progress.data();
  }

  void drop(const std::shared_ptr<CollectiveGroup>& group) {
    if (mistakes_.reRegistersIntoAborted) return;
    std::erase(groups_, group);
  }

 private:
  const HostMistakes mistakes_;
  Arena arena_;
  ConnectorPool pool_;
  std::vector<std::shared_ptr<CollectiveGroup>> groups_;
  std::map<const CollectiveShared*, std::vector<RingProgress>> ringProgress_;
};

}  // namespace dfccl::test

// What ranks have called in place of what this one waits for: they disagree, and nobody else will say so.
#include <algorithm>

#include "cpu/cpu_world.hpp"
#include "world/call_difference.hpp"

namespace dfccl {

std::vector<OtherCall> CpuWorld::otherCalls(uint32_t rank, uint32_t index) {
  const std::lock_guard lock(mutex_);
  const CollectiveSpec mine = registered(rank, index).spec;
  if (!mine.id.isSignature()) return {};
  const auto place = static_cast<uint32_t>(std::find(mine.ranks.begin(), mine.ranks.end(), rank) - mine.ranks.begin());
  std::vector<std::optional<CallDifference>> nearest(mine.ranks.size());
  const auto look = [&](const JointRegistration& registration) {
    std::optional<CallDifference> difference = differenceOf(registration.spec(), mine);
    if (!difference) return;
    const uint64_t own = runsOf(registration, place);
    for (uint32_t m = 0; m < nearest.size(); ++m) {
      const bool isThere = m != place && registration.isMember(m) && (!segment() || segment()->isLocal(mine.ranks[m]));
      if (!isThere || runsOf(registration, m) <= own) continue;
      if (!nearest[m] || difference->fields < nearest[m]->fields) nearest[m] = difference;
    }
  };
  if (directory_) {
    const std::unique_ptr<Segment::Lock> segmentLock = lockSegment();
    directory_->forEachOf(mine.ranks, look);
  } else {
    for (const uint32_t r : mine.ranks) {
      for (const Registered& entry : table_[r]) {
        if (r != rank && entry.registration) look(*entry.registration);
      }
    }
  }
  std::vector<OtherCall> calls;
  for (uint32_t m = 0; m < nearest.size(); ++m) {
    if (nearest[m]) calls.push_back({mine.ranks[m], nearest[m]->text});
  }
  return calls;
}

}  // namespace dfccl

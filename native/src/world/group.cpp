#include "world/group.hpp"

#include <algorithm>
#include <string>

#include "error.hpp"

namespace dfccl {

bool isToJoin(Group& group, const CollectiveSpec& spec, uint32_t member, uint64_t digest) {
  if (group.shared().isPoisoned()) return false;
  const uint32_t rank = spec.ranks[member];
  const auto& ranks = group.spec().ranks;
  const auto mine = std::find(ranks.begin(), ranks.end(), rank);
  if (mine != ranks.end() && group.hasJoined(static_cast<uint32_t>(mine - ranks.begin()))) {
    if (group.isMember(static_cast<uint32_t>(mine - ranks.begin()))) {
      throw Error(
          dfcclAlreadyRegistered,
          "Rank " + std::to_string(rank) + " has registered collective " + std::to_string(spec.id) + " already.",
          "Unregister it first, or use another id.", {{"id", std::to_string(spec.id)}, {"rank", std::to_string(rank)}});
    }
    return false;
  }
  group.checkAgreement(spec, digest, rank);
  return true;
}

}  // namespace dfccl

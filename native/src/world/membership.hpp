#pragma once
// Who takes part in what, where all ranks are this process's: the groups that registrations of an id come together in.
// Both backends keep theirs here; of ranks in several processes the segment has it (processes/shared_directory.hpp).
#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>

#include "world/collective_spec.hpp"
#include "world/group.hpp"

namespace dfccl {

/// A rank's number in a collective. @pre it is in `spec.ranks`.
inline uint32_t memberOf(const CollectiveSpec& spec, uint32_t rank) {
  return static_cast<uint32_t>(std::find(spec.ranks.begin(), spec.ranks.end(), rank) - spec.ranks.begin());
}

/// @tparam AnyGroup what isToJoin() takes. Under the world's lock of registration.
template <class AnyGroup>
class Membership {
 public:
  using Groups = std::multimap<CollectiveId, std::shared_ptr<AnyGroup>>;

  /// The group that a member which registers this belongs into: the oldest of the id that it may join, else what
  /// `make()` gives, which is kept until it is dropped.
  /// @throws Error dfcclAlreadyRegistered, dfcclRegistrationMismatch, and what make() throws.
  template <class Make>
  std::shared_ptr<AnyGroup> groupFor(const CollectiveSpec& spec, uint32_t member, uint64_t digest, const Make& make) {
    const auto [first, last] = groups_.equal_range(spec.id);
    for (auto it = first; it != last; ++it) {
      if (isToJoin(*it->second, spec, member, digest)) return it->second;
    }
    return groups_.emplace(spec.id, make())->second;
  }

  /// The group of a signature that a member has left for now. @return null: there is none.
  std::shared_ptr<AnyGroup> leftForNow(const CollectiveSpec& spec, uint32_t member) const {
    if (!spec.id.isSignature()) return nullptr;
    const auto [first, last] = groups_.equal_range(spec.id);
    for (auto it = first; it != last; ++it) {
      if (it->second->isAway(member) && !it->second->isPoisoned()) return it->second;
    }
    return nullptr;
  }

  /// Nobody is in it any more. One that isn't here is none of ours.
  void drop(const AnyGroup& group) {
    const auto [first, last] = groups_.equal_range(group.spec().id);
    const auto found = std::find_if(first, last, [&](const auto& entry) { return entry.second.get() == &group; });
    if (found != last) groups_.erase(found);
  }

  /// All of them, by id; of one id in the order of their making.
  typename Groups::const_iterator begin() const { return groups_.begin(); }
  typename Groups::const_iterator end() const { return groups_.end(); }

 private:
  Groups groups_;
};

}  // namespace dfccl

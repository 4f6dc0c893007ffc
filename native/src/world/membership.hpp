#pragma once
// Who takes part in what, where all ranks are this process's: the registrations of each id, with their members. Both
// backends keep theirs here; of ranks in several processes the segment has it (processes/shared_directory.hpp).
#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>

#include "world/collective_spec.hpp"
#include "world/joint_registration.hpp"

namespace dfccl {

/// A rank's number in a collective. @pre it is in `spec.ranks`.
inline uint32_t memberOf(const CollectiveSpec& spec, uint32_t rank) {
  return static_cast<uint32_t>(std::find(spec.ranks.begin(), spec.ranks.end(), rank) - spec.ranks.begin());
}

/// @tparam AnyRegistration what isToJoin() takes. Under the world's lock of registration.
template <class AnyRegistration>
class Membership {
 public:
  using Registrations = std::multimap<CollectiveId, std::shared_ptr<AnyRegistration>>;

  /// The registration that a member joins which registers this: the oldest of the id that it may join, else what
  /// `make()` gives, which is kept until it is dropped.
  /// @throws Error dfcclAlreadyRegistered, dfcclRegistrationMismatch, and what make() throws.
  template <class Make>
  std::shared_ptr<AnyRegistration> registrationFor(const CollectiveSpec& spec, uint32_t member, uint64_t digest,
                                                   const Make& make) {
    const auto [first, last] = registrations_.equal_range(spec.id);
    for (auto it = first; it != last; ++it) {
      if (isToJoin(*it->second, spec, member, digest)) return it->second;
    }
    return registrations_.emplace(spec.id, make())->second;
  }

  /// The registration of a signature that a member has left for now. @return null: there is none.
  std::shared_ptr<AnyRegistration> leftForNow(const CollectiveSpec& spec, uint32_t member) const {
    if (!spec.id.isSignature()) return nullptr;
    const auto [first, last] = registrations_.equal_range(spec.id);
    for (auto it = first; it != last; ++it) {
      if (it->second->isAway(member) && !it->second->isPoisoned()) return it->second;
    }
    return nullptr;
  }

  /// Nobody is in it any more. One that isn't here is none of ours.
  void drop(const AnyRegistration& registration) {
    const auto [first, last] = registrations_.equal_range(registration.spec().id);
    const auto found =
        std::find_if(first, last, [&](const auto& entry) { return entry.second.get() == &registration; });
    if (found != last) registrations_.erase(found);
  }

  /// All of them, by id; of one id in the order of their making.
  typename Registrations::const_iterator begin() const { return registrations_.begin(); }
  typename Registrations::const_iterator end() const { return registrations_.end(); }

 private:
  Registrations registrations_;
};

}  // namespace dfccl

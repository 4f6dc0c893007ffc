#pragma once
// The registrations of a test's world, and the memory that these take their connectors from.
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "cpu/local_registration.hpp"
#include "world_shape.hpp"

namespace dfccl::test {

class JointRegistrations {
 public:
  explicit JointRegistrations(const WorldShape& shape)
      : mistakes_(shape.mistakes), arena_(shape.arenaBytes), pool_(arena_) {}

  ConnectorPool& pool() { return pool_; }

  /// The registration that a rank joins which registers this: one that waits for it, or a new one.
  std::shared_ptr<LocalRegistration> registrationFor(const CollectiveSpec& spec, uint32_t member, uint64_t digest) {
    for (const std::shared_ptr<LocalRegistration>& registration : registrations_) {
      if (registration->spec().id != spec.id) continue;
      CollectiveShared& s = registration->shared();
      if (s.isPoisoned() && mistakes_.reRegistersIntoAborted) {
        s.poisonedBy.store(CollectiveShared::kNobody, order::relaxed);
        s.registered.store(0, order::relaxed);
        return registration;
      }
      const bool isReborn = mistakes_.reRegistersIntoAborted && !registration->isMember(member);
      if (s.isPoisoned() || (registration->hasJoined(member) && !isReborn)) continue;
      if (!mistakes_.ignoresDisagreement) registration->checkAgreement(spec, digest, spec.ranks[member]);
      return registration;
    }
    registrations_.push_back(std::make_shared<LocalRegistration>(spec, digest, arena_, pool_));
    ringProgress_.erase(&registrations_.back()->shared());  // of a former one at its address
    return registrations_.back();
  }

  /// What segments keep for registrations whose runs may go through rings.
  void giveRingProgress(LocalRegistration& registration) {
    std::vector<RingProgress>& progress = ringProgress_[&registration.shared()];
    if (progress.empty()) progress = std::vector<RingProgress>(registration.spec().ranks.size());
    registration.shared().ringProgress = progress.data();
  }

  void drop(const std::shared_ptr<LocalRegistration>& registration) {
    if (mistakes_.reRegistersIntoAborted) return;
    std::erase(registrations_, registration);
  }

 private:
  const HostMistakes mistakes_;
  Arena arena_;
  ConnectorPool pool_;
  std::vector<std::shared_ptr<LocalRegistration>> registrations_;
  std::map<const CollectiveShared*, std::vector<RingProgress>> ringProgress_;
};

}  // namespace dfccl::test

#pragma once
// One registration of an id by all its ranks, as the world sees it. Where its memory lies is an implementation's
// affair: LocalRegistration for ranks of one process, SharedRegistration for ranks of several.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "daemon/state/records.hpp"
#include "world/collective_spec.hpp"
#include "world/departure.hpp"

namespace dfccl {

class JointRegistration {
 public:
  virtual ~JointRegistration() = default;

  /// @throws Error dfcclRegistrationMismatch that names the first field in which `spec` differs from the agreed one.
  virtual void checkAgreement(const CollectiveSpec& spec, uint64_t programDigest, uint32_t rank) const = 0;

  /// Memory of one member: scratch, and its ends of the connections. One that comes back has what it had, and its
  /// record goes on behind the runs that it has finished.
  /// @param bytes the program, as it was registered.
  /// @throws Error dfcclOutOfMemory, with nothing kept.
  virtual void join(uint32_t member, std::shared_ptr<const BoundProgram> program, std::span<const uint8_t> bytes,
                    double scale, CollectiveRecord& record) = 0;
  /// @param finishedRuns of the member: all that it has submitted.
  virtual void leave(uint32_t member, Departure departure, uint64_t finishedRuns) = 0;

  virtual bool hasJoined(uint32_t member) const = 0;
  virtual bool isMember(uint32_t member) const = 0;
  /// It has left for now.
  virtual bool isAway(uint32_t member) const = 0;
  /// Runs that a member had when it left; 0: it has never come.
  virtual uint64_t runsAtLeaving(uint32_t member) const = 0;
  /// Nobody is in it any more, or comes back to it.
  virtual bool isAbandoned() const = 0;
  virtual const CollectiveSpec& spec() const = 0;
  virtual CollectiveShared& shared() = 0;
  /// It was given up: whoever registers the id anew begins another one.
  bool isPoisoned() { return shared().isPoisoned(); }
  /// @pre isMember(member). @return its number for the collective.
  virtual uint32_t indexOf(uint32_t member) const = 0;
  virtual size_t connectorBytes() const = 0;
  virtual size_t jointBytes() const = 0;
  virtual size_t ownBytes() const = 0;
};

/// @throws Error dfcclAlreadyRegistered
[[noreturn]] void refuseSecondRegistration(const CollectiveId& id, uint32_t rank);

/// Whether a rank that registers `spec` belongs into `registration`, which has the same id. A rank that has been in it
/// and left for good begins a new one. Of several it is the oldest: each rank's registrations of an id go with the
/// others' in their order, however far a rank is behind. @tparam AnyRegistration a JointRegistration, or one on GPUs.
/// @throws Error dfcclAlreadyRegistered, dfcclRegistrationMismatch
template <class AnyRegistration>
bool isToJoin(AnyRegistration& registration, const CollectiveSpec& spec, uint32_t member, uint64_t digest) {
  if (registration.isPoisoned()) return false;
  const uint32_t rank = spec.ranks[member];
  const auto& ranks = registration.spec().ranks;
  const auto mine = std::find(ranks.begin(), ranks.end(), rank);
  const auto place = static_cast<uint32_t>(mine - ranks.begin());
  if (mine != ranks.end() && registration.hasJoined(place)) {
    if (registration.isMember(place)) refuseSecondRegistration(spec.id, rank);
    if (!registration.isAway(place)) return false;
  }
  registration.checkAgreement(spec, digest, rank);
  return true;
}

}  // namespace dfccl

// How ranks on several machines leave a registration for now, and come back to it (decision 29). They have no lock in
// common under which they could tell whether it is still there.
//
// Who is away keeps his ends of the connections, and what comes for him meanwhile. A machine drops a registration when
// it has heard that all members are away, with as many runs. Another one may be coming back just then: whoever has
// dropped it begins anew, in the same generation, and so do the other one's ends to him. So that nothing is on its way
// then, who comes holds his runs until each of the others has answered that he is in the registration and knows of it:
// from then on none of them drops it while he is there.
#include <algorithm>
#include <cstring>
#include <utility>

#include "network/proxy.hpp"

namespace dfccl {
namespace {

std::optional<uint32_t> placeOf(uint32_t rank, const RegistrationKey& key) {
  const auto at = std::find(key.ranks.begin(), key.ranks.end(), rank);
  if (at == key.ranks.end()) return std::nullopt;
  return static_cast<uint32_t>(at - key.ranks.begin());
}

}  // namespace

/// Whether this rank, which is away, doesn't come back: nobody needs it to, or the registration is given up, or
/// somebody won't be in the next run.
bool Proxy::isOverWhileAway(const RemoteRegistration& registration) const {
  if (registration.shared->isOverFor(registration.member) || registration.shared->shared().isPoisoned()) return true;
  for (uint32_t m = 0; m < registration.key.ranks.size(); ++m) {
    const uint32_t rank = registration.key.ranks[m];
    const Presence presence = segment_->isLocal(rank) ? segment_->presenceOf(rank) : presenceOf(rank);
    const bool isGone = rank != rank_ && (presence > Presence::joined || registration.shared->hasLeft(m));
    if (isGone && registration.shared->finishedRunsOf(m) <= registration.finishedRuns) return true;
  }
  return false;
}

/// The registration that this rank is in, or comes back to; under the segment's lock. One that it is away from and that
/// is over ends here.
RemoteRegistration* Proxy::findInUse(const RegistrationKey& key) {
  RemoteRegistration* const registration = find(key);
  if (registration == nullptr || !registration->isAway || !isOverWhileAway(*registration)) return registration;
  // Of one that was given up something may still be on its way.
  if (registration->shared->isOverFor(registration->member) && !registration->shared->shared().isPoisoned()) {
    drop(key);
    return nullptr;
  }
  registration->shared->record()->members[registration->member].state.store(SharedMember::leaving, order::release);
  endStay(*registration);
  return registration;
}

/// All were away, with as many runs, so nothing is on its way but what the links still read.
void Proxy::drop(const RegistrationKey& key) {
  std::unique_ptr<RemoteRegistration> registration = std::move(registrations_.extract(key).mapped());
  for (const uint32_t number : registration->ends) {
    RemoteEnd& end = *ends_[number];
    if (end.isKnown && !end.isSend) giveCredit(end);
    end.isKnown = false;
  }
  tellMembers(*registration,
              encode(NoteKind::dropped, RegistrationNote{key, registration->finishedRuns, registration->coming}));
  // Whoever is back has told of that before, or tells of it later.
  for (const uint32_t m : registration->remotes) forgetAnnouncement(key.ranks[m], key);
  if (key.generation == 0) nextGeneration_.erase({key.id, key.ranks});
  generations_.forgetFirst(key.id, key.ranks);
  dropped_.push_back(std::move(registration));
}

/// Under the segment's lock.
void Proxy::letDroppedGo() {
  std::erase_if(dropped_, [&](const std::unique_ptr<RemoteRegistration>& registration) {
    const bool isRead = std::any_of(registration->ends.begin(), registration->ends.end(),
                                    [&](uint32_t n) { return ends_[n]->underWay != 0; });
    if (isRead) return false;
    freeEnds(*registration);
    finishLeaving(*registration);
    return true;
  });
}

bool Proxy::handleAway(uint32_t from, const RegistrationNote& note) {
  const Segment::Lock lock(*segment_, std::try_to_lock);
  if (!lock.isHeld()) return false;
  const std::lock_guard own(mutex_);
  forgetAnnouncement(from, note.key);
  RemoteRegistration* const registration = findInUse(note.key);
  const std::optional<uint32_t> member = placeOf(from, note.key);
  if (registration == nullptr || !member) return true;
  SharedMember& their = registration->shared->record()->members[*member];
  if (their.coming != note.coming || !registration->shared->isMember(*member)) return true;
  their.finishedRuns.store(note.value + their.firstRun, order::relaxed);
  their.state.store(SharedMember::away, order::release);
  registration->shared->settle();
  return true;
}

/// A member begins anew when it comes back, and so do this rank's ends to it: there is nothing in them.
bool Proxy::handleDropped(uint32_t from, const RegistrationNote& note) {
  const Segment::Lock lock(*segment_, std::try_to_lock);
  if (!lock.isHeld()) return false;
  const std::lock_guard own(mutex_);
  RemoteRegistration* const registration = findInUse(note.key);
  const std::optional<uint32_t> member = placeOf(from, note.key);
  if (registration == nullptr || !member) return true;
  // Credits don't keep their place among the notes.
  const bool isQuiet = std::all_of(registration->ends.begin(), registration->ends.end(), [&](uint32_t number) {
    const RemoteEnd& end = *ends_[number];
    return end.rank != from || !end.isSend ||
           (end.underWay == 0 && end.freed == end.connector.memory->tail.load(order::relaxed));
  });
  if (!isQuiet && links_->isUp(from)) return false;
  beginAnew(*registration, from);
  SharedMember& their = registration->shared->record()->members[*member];
  const bool isIn = registration->shared->isMember(*member) || registration->shared->isAway(*member);
  if (their.coming != note.coming || !isIn) return true;
  their.finishedRuns.store(note.value + their.firstRun, order::relaxed);
  their.state.store(SharedMember::absent, order::release);
  registration->shared->shared().registered.fetchAdd(~uint32_t{0}, order::acqRel);
  registration->shared->settle();
  return true;
}

void Proxy::beginAnew(RemoteRegistration& registration, uint32_t rank) {
  for (const uint32_t number : registration.ends) {
    RemoteEnd& end = *ends_[number];
    if (end.rank != rank) continue;
    end.isKnown = false;
    end.moved = end.freed = 0;
    end.done = DonePositions(end.connector.slotCount);
    const Connector& c = end.connector;
    c.memory->head.store(0, order::relaxed);
    c.memory->tail.store(0, order::relaxed);
    // What lies there must not look like what comes at the same position.
    std::memset(c.slots, 0, size_t{c.slotCount} * c.slotBytes);
  }
}

void Proxy::handlePresent(uint32_t from, const RegistrationNote& note) {
  const std::lock_guard lock(mutex_);
  RemoteRegistration* const registration = find(note.key);
  if (registration != nullptr && registration->coming == note.coming) hearFrom(*registration, from);
}

/// It knows that this rank is there, or won't drop the registration in any case.
void Proxy::hearFrom(RemoteRegistration& registration, uint32_t rank) {
  if (std::erase(registration.unheard, rank) == 0 || !registration.unheard.empty() || registration.isAway ||
      registration.isLeaving)
    return;
  registration.record->isHeld.store(0, order::release);
  hasDelivered_ = hasNews_ = true;
}

}  // namespace dfccl

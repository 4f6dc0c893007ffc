// How a proxy lets collectives, ranks and at last the world go, with nothing left on the way.
#include <algorithm>
#include <utility>

#include "network/proxy.hpp"

namespace dfccl {

void Proxy::lose(uint32_t rank, Presence presence) {
  auto joined = static_cast<uint32_t>(Presence::joined);
  if (!presence_[rank].compareExchange(joined, static_cast<uint32_t>(presence), order::acqRel, order::relaxed)) return;
  isAnyGone_.store(1, order::release);
  segment_->area(rank_).lostLinks[rank / RankSet::kWordBits].fetchOr(uint64_t{1} << rank % RankSet::kWordBits,
                                                                     order::acqRel);
  joined = static_cast<uint32_t>(Presence::joined);
  segment_->area(rank).presence.compareExchange(joined, static_cast<uint32_t>(presence), order::acqRel, order::relaxed);
  hooks_.alarm();
}

bool Proxy::isDrained(const RemoteRegistration& registration) const {
  const bool isOver = registration.shared->shared().isPoisoned();
  return std::all_of(registration.ends.begin(), registration.ends.end(), [&](uint32_t number) {
    const RemoteEnd& end = *ends_[number];
    if (!end.isSend) return true;
    const bool isSent = end.moved == end.connector.memory->tail.load(order::acquire);
    return end.underWay == 0 && (isSent || isOver || !end.isKnown || !links_->isUp(end.rank));
  });
}

void Proxy::freeEnds(RemoteRegistration& registration) {
  for (const uint32_t number : registration.ends) {
    ends_[number].reset();
    freeNumbers_.push_back(number);
  }
  registration.ends.clear();
}

/// Under the segment's lock. On a device the rank's memory is in reach of others still, and its world sees to the rest.
void Proxy::finishLeaving(RemoteRegistration& registration) {
  SharedRegistration& shared = *registration.shared;
  if (shared.record()->isOnDevices) return;
  shared.finishLeaving(registration.member);
  if (shared.isAbandoned()) directory_.drop(shared);
}

size_t Proxy::bookBytes() const {
  const std::lock_guard lock(mutex_);
  const auto bytesOf = [](const std::vector<uint32_t>& numbers) { return numbers.size() * sizeof(uint32_t); };
  size_t bytes = 0;
  for (const auto& [key, registration] : registrations_)
    bytes += sizeof(key) + sizeof(*registration) + 4 * bytesOf(key.ranks);
  for (const auto& registration : dropped_) bytes += sizeof(*registration) + 4 * bytesOf(registration->key.ranks);
  for (const auto& end : ends_) bytes += sizeof(end) + (end ? sizeof(*end) + end->connector.slotCount : 0);
  for (const auto& [id, announced] : announced_) {
    bytes += sizeof(id);
    for (const Announcement& a : announced)
      bytes += sizeof(a) + bytesOf(a.spec.ranks) + a.ends.size() * sizeof(AnnouncedEnd);
  }
  for (const auto* generations : {&nextGeneration_, &deadGenerations_}) {
    for (const auto& entry : *generations) bytes += sizeof(entry) + bytesOf(entry.first.second);
  }
  return bytes;
}

void Proxy::letRegistrationsGo() {
  std::vector<RegistrationKey> over;
  bool isAnyDropped;
  {
    const std::lock_guard lock(mutex_);
    isAnyDropped = !dropped_.empty();
    for (const auto& [key, registration] : registrations_) {
      if (registration->isAway ? isOverWhileAway(*registration) : registration->isLeaving && isDrained(*registration))
        over.push_back(key);
    }
  }
  if (over.empty() && !isAnyDropped) return;
  const Segment::Lock lock(*segment_, std::try_to_lock);
  if (!lock.isHeld()) return;
  const std::lock_guard own(mutex_);
  letDroppedGo();
  for (const RegistrationKey& key : over) {
    if (find(key) == nullptr) continue;
    RemoteRegistration& registration = *registrations_[key];
    if (registration.isAway) {
      (void)findInUse(key);
      continue;
    }
    // It may have come back.
    if (!registration.isLeaving) continue;
    // It may have been aborted and unregistered before the watch looked.
    if (registration.shared->shared().isPoisoned()) tellPoison(registration);
    tellLeft(registration);
    freeEnds(registration);
    finishLeaving(registration);
    registrations_.erase(key);
  }
}

void Proxy::sayGoodbyes() {
  for (auto& [key, registration] : registrations_) {
    if (registration->isLeaving) continue;
    const bool isThrough = registration->isAway || registration->record->finishedRuns.load(order::acquire) >=
                                                       registration->record->submittedRuns.load(order::acquire);
    if (isThrough && !isDrained(*registration)) return;
  }
  for (const auto& [key, registration] : registrations_) {
    if (registration->isLeaving) return;  // it will be gone soon
  }
  for (auto& [key, registration] : registrations_) {
    if (std::exchange(registration->hasToldLeft, true)) continue;
    const std::vector<uint8_t> note = encode(NoteKind::left, RegistrationNote{key, registration->finishedRuns});
    for (const uint32_t member : registration->remotes) links_->sendNote(key.ranks[member], note);
  }
  farewells_->say();
}

}  // namespace dfccl

// What a proxy learns from the ranks on other machines, and tells them now and then.
#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "network/proxy.hpp"

namespace dfccl {
namespace {

constexpr auto kLastPresence = static_cast<uint64_t>(Presence::mute);

}  // namespace

void Proxy::receivedNote(uint32_t from, std::span<const uint8_t> bytes) {
  if (std::optional<Note> note = decodeNote(bytes, from)) inbox_.push_back({from, std::nullopt, std::move(*note)});
}

void Proxy::lostLink(uint32_t rank, Presence presence) { inbox_.push_back({rank, presence, {}}); }

bool Proxy::handleNotes() {
  bool hasHandled = false;
  while (!inbox_.empty()) {
    if (!handle(inbox_.front())) break;
    inbox_.pop_front();
    hasHandled = true;
  }
  return hasHandled;
}

bool Proxy::handle(const Incoming& incoming) {
  const auto& [from, lost, note] = incoming;
  if (lost) {
    lose(from, *lost);
    return true;
  }
  switch (note.kind) {
    case NoteKind::registered:
      return handleRegistered(note.announcement);
    case NoteKind::left:
      return handleLeft(from, note.registration);
    case NoteKind::away:
      return handleAway(from, note.registration);
    case NoteKind::dropped:
      return handleDropped(from, note.registration);
    case NoteKind::present:
      handlePresent(from, note.registration);
      return true;
    case NoteKind::poisoned:
      handlePoisoned(from, note.registration);
      return true;
    case NoteKind::progress:
      handleProgress(from, note.registration);
      return true;
    case NoteKind::goodbye:
      farewells_->heardGoodbye(from, note.value);
      lose(from, Presence::left);
      return true;
    case NoteKind::farewell:
      farewells_->heardAnswer(from);
      return true;
    case NoteKind::vote:
      return handleVote(from, note.vote);
  }
  return true;
}

bool Proxy::handleRegistered(const Announcement& a) {
  const Segment::Lock lock(*segment_, std::try_to_lock);
  if (!lock.isHeld()) return false;
  const std::lock_guard own(mutex_);
  const auto& ranks = a.spec.ranks;
  const bool isForUs = std::find(ranks.begin(), ranks.end(), rank_) != ranks.end() &&
                       std::find(ranks.begin(), ranks.end(), a.from) != ranks.end();
  if (!isForUs) return true;
  lastHeard_[a.from] = a.coming;
  const Lists lists{a.spec.id, ranks};
  const auto dead = deadGenerations_.find(lists);
  const bool isOver = dead != deadGenerations_.end() && a.generation < dead->second;
  // Notes have an order within a link only: another member may have left before this one's word has come.
  if (isOver && findInUse(a.key()) == nullptr) {
    // Its sender would wait for ever where this rank never was in it, and never will be.
    const auto following = nextGeneration_.find(lists);
    const bool wasInIt = following != nextGeneration_.end() && a.generation < following->second;
    if (!wasInIt) queueNote(a.from, encode(NoteKind::poisoned, RegistrationNote{a.key(), rank_}));
    return true;
  }
  (void)findInUse(a.key());
  announced_[a.spec.id].push_back(a);
  for (auto& [key, registration] : registrations_) {
    if (key.id != a.spec.id || registration->isLeaving || registration->shared->shared().isPoisoned()) continue;
    const auto at = std::find(key.ranks.begin(), key.ranks.end(), a.from);
    if (at == key.ranks.end()) continue;
    const bool isSame = key == a.key();
    const auto member = static_cast<uint32_t>(at - key.ranks.begin());
    if (!isSame && (key.ranks == ranks || registration->shared->hasJoined(member))) continue;
    try {
      checkAgreement(registration->spec, registration->digest, a.spec, a.digest, a.from);
      apply(*registration, a);
      hasDelivered_ = hasNews_ = true;
    } catch (const Error& e) {
      // Both have registered before either knew: what the second would have been told, both runs end with.
      registration->shared->noteMismatch(e.message());
      poison(*registration, a.from);
    }
  }
  return true;
}

void Proxy::forgetAnnouncement(uint32_t from, const RegistrationKey& key) {
  const auto found = announced_.find(key.id);
  if (found == announced_.end()) return;
  std::erase_if(found->second, [&](const Announcement& a) { return a.from == from && a.key() == key; });
  if (found->second.empty()) announced_.erase(found);
}

void Proxy::markDead(const RegistrationKey& key) {
  uint32_t& dead = deadGenerations_[{key.id, key.ranks}];
  dead = std::max(dead, key.generation + 1);
}

void Proxy::poison(RemoteRegistration& registration, uint32_t rank) {
  uint32_t nobody = CollectiveShared::kNobody;
  registration.shared->shared().poisonedBy.compareExchange(nobody, rank, order::acqRel, order::relaxed);
  hooks_.alarm();
}

void Proxy::handlePoisoned(uint32_t from, const RegistrationNote& note) {
  const std::lock_guard lock(mutex_);
  markDead(note.key);
  forgetAnnouncement(from, note.key);
  RemoteRegistration* const registration = find(note.key);
  if (registration == nullptr) return;
  const auto rank = static_cast<uint32_t>(note.value);
  const uint64_t presence = note.value >> 32;
  const bool isGone = presence > static_cast<uint64_t>(Presence::joined) && presence <= kLastPresence;
  if (isGone && rank < presence_.size()) registration->shared->noteLost(rank, static_cast<Presence>(presence));
  poison(*registration, rank);
}

bool Proxy::handleLeft(uint32_t from, const RegistrationNote& note) {
  const Segment::Lock lock(*segment_, std::try_to_lock);
  if (!lock.isHeld()) return false;
  const std::lock_guard own(mutex_);
  markDead(note.key);
  forgetAnnouncement(from, note.key);
  RemoteRegistration* const registration = find(note.key);
  if (registration == nullptr) return true;
  SharedRegistrationRecord& record = *registration->shared->record();
  const auto member =
      static_cast<uint32_t>(std::find(note.key.ranks.begin(), note.key.ranks.end(), from) - note.key.ranks.begin());
  if (member == note.key.ranks.size()) return true;
  SharedMember& their = record.members[member];
  their.finishedRuns.store(note.value + their.firstRun, order::relaxed);
  their.state.store(SharedMember::left, order::release);
  hasNews_ = true;
  hearFrom(*registration, from);
  // Without a run of its own nobody else has had one, and nobody can make up for it. With one, all have come, though
  // this rank may not have heard of some of them yet.
  if (note.value == 0 && !record.shared.isComplete()) poison(*registration, from);
  return true;
}

void Proxy::handleProgress(uint32_t from, const RegistrationNote& note) {
  const std::lock_guard lock(mutex_);
  RemoteRegistration* const registration = find(note.key);
  if (registration == nullptr) return;
  const auto member =
      static_cast<uint32_t>(std::find(note.key.ranks.begin(), note.key.ranks.end(), from) - note.key.ranks.begin());
  if (member == note.key.ranks.size() || !registration->shared->isMember(member)) return;
  const uint64_t firstRun = registration->shared->record()->members[member].firstRun;
  registration->shared->recordOf(member).submittedRuns.store(note.value + firstRun, order::release);
}

/// Now and then, for diagnosis: who has submitted how much.
void Proxy::tellProgress(uint64_t now) {
  if (now - lastTold_ < links_->beatMillis()) return;
  lastTold_ = now;
  for (auto& [key, registration] : registrations_) {
    if (registration->isLeaving || registration->isAway) continue;
    const uint64_t submitted = registration->record->submittedRuns.load(order::acquire);
    if (std::exchange(registration->toldSubmitted, submitted) == submitted) continue;
    tellMembers(*registration, encode(NoteKind::progress, RegistrationNote{key, submitted}));
  }
}

}  // namespace dfccl

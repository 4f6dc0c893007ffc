// What a proxy does when its own rank registers, aborts and unregisters.
#include <algorithm>
#include <utility>

#include "network/proxy.hpp"

namespace dfccl {
namespace {

uint32_t firstOf(const std::map<std::pair<CollectiveId, std::vector<uint32_t>>, uint32_t>& generations,
                 const CollectiveSpec& spec) {
  const auto found = generations.find({spec.id, spec.ranks});
  return found == generations.end() ? 0 : found->second;
}

}  // namespace

uint32_t Proxy::generationFor(const CollectiveSpec& spec, uint64_t digest) {
  // What another rank of this machine has given up, the other machines know to be over.
  const auto firstAlive = [&] {
    return std::max({firstOf(nextGeneration_, spec), firstOf(deadGenerations_, spec),
                     generations_.firstAlive(spec.id, spec.ranks), directory_.firstNotAborted(spec.id, spec.ranks)});
  };
  const std::lock_guard lock(mutex_);
  // What it is away from goes on, though others have left that for good, until it is over.
  const uint32_t last = firstOf(nextGeneration_, spec);
  if (const RemoteRegistration* kept = findInUse({spec.id, last, spec.ranks}); kept != nullptr && kept->isAway)
    return last;
  const uint32_t generation = firstAlive();
  const auto found = announced_.find(spec.id);
  if (found == announced_.end()) return generation;
  for (const Announcement& a : found->second) {
    // One that this rank has had and left is no concern of this one, however long the other one holds it.
    const auto following = nextGeneration_.find({a.spec.id, a.spec.ranks});
    if (following != nextGeneration_.end() && a.generation < following->second) continue;
    const bool isMember = std::find(spec.ranks.begin(), spec.ranks.end(), a.from) != spec.ranks.end();
    const bool isSame = a.spec.ranks == spec.ranks;
    // It has registered the id with other ranks, so it can't mean this.
    if (isMember && (!isSame || a.generation == generation)) checkAgreement(a.spec, a.digest, spec, digest, rank_);
  }
  return generation;
}

void Proxy::bind(const std::shared_ptr<SharedRegistration>& shared, uint32_t generation, const CollectiveSpec& spec,
                 uint64_t digest, const BoundProgram& program, std::span<const Connector> connectors,
                 CollectiveRecord& record) {
  const std::lock_guard lock(mutex_);
  uint32_t& following = nextGeneration_[{spec.id, spec.ranks}];
  RemoteRegistration& registration = keptOrNew(shared, generation, spec, digest, program, connectors);
  registration.member = record.member;
  const size_t toldBefore = outbox_.size();
  const uint64_t comingBefore = registration.coming;
  try {
    registration.record = &record;
    announce(registration, record.submittedRuns.load(order::relaxed));
    applyKnown(registration);
  } catch (...) {
    // Nobody has heard of it yet.
    outbox_.resize(toldBefore);
    if (registration.isAway) {
      registration.coming = comingBefore;  // by which they know it
    } else {
      freeEnds(registration);
      registrations_.erase(RegistrationKey(registration.key));
    }
    throw;
  }
  registration.isAway = false;
  following = generation + 1;
  notify();
}

/// @return the registration that this rank is away from, or another one.
RemoteRegistration& Proxy::keptOrNew(const std::shared_ptr<SharedRegistration>& shared, uint32_t generation,
                                     const CollectiveSpec& spec, uint64_t digest, const BoundProgram& program,
                                     std::span<const Connector> connectors) {
  if (RemoteRegistration* const kept = find(RegistrationKey{spec.id, generation, spec.ranks})) {
    kept->shared = shared;
    return *kept;
  }
  auto made = std::make_unique<RemoteRegistration>();
  RemoteRegistration& registration = *made;
  registration.key = {spec.id, generation, spec.ranks};
  registration.shared = shared;
  registration.spec = spec;
  registration.spec.program.clear();
  registration.digest = digest;
  for (uint32_t m = 0; m < spec.ranks.size(); ++m) {
    if (!segment_->isLocal(spec.ranks[m])) registration.remotes.push_back(m);
  }
  try {
    makeEnds(registration, program, connectors);
    registrations_[registration.key] = std::move(made);
  } catch (...) {
    freeEnds(registration);
    throw;
  }
  return registration;
}

/// @param runs that this rank has had in it.
void Proxy::announce(RemoteRegistration& registration, uint64_t runs) {
  Announcement own;
  own.coming = registration.coming = ++comings_;
  own.runs = runs;
  own.generation = registration.key.generation;
  own.index = registration.record->index;
  own.spec = registration.spec;
  own.digest = registration.digest;
  for (const uint32_t number : registration.ends) {
    const RemoteEnd& end = *ends_[number];
    own.ends.push_back({end.rank, end.channel, end.isSend, end.own});
  }
  registration.unheard.clear();
  // Only what can be left for now needs that everybody knows who is there.
  for (const uint32_t m : registration.remotes) {
    if (registration.key.id.isSignature() && !registration.shared->hasLeft(m))
      registration.unheard.push_back(registration.key.ranks[m]);
  }
  registration.record->isHeld.store(!registration.unheard.empty(), order::release);
  tellMembers(registration, encode(own));
}

/// What others have told of it before this rank came.
void Proxy::applyKnown(RemoteRegistration& registration) {
  if (const auto found = announced_.find(registration.key.id); found != announced_.end()) {
    for (const Announcement& a : found->second) {
      if (a.key() == registration.key) apply(registration, a);
    }
  }
  // What another process of this machine hears later, and this one has heard already, is over.
  for (const uint32_t m : registration.remotes) {
    SharedMember& their = registration.shared->record()->members[m];
    const bool isAbsent = their.state.load(order::relaxed) == SharedMember::absent;
    if (isAbsent) their.coming = std::max(their.coming, lastHeard_[registration.key.ranks[m]]);
  }
}

void Proxy::makeEnds(RemoteRegistration& registration, const BoundProgram& program,
                     std::span<const Connector> connectors) {
  registration.ends.reserve(program.connections.size());
  for (uint32_t i = 0; i < program.connections.size(); ++i) {
    const ConnectionRecord& c = program.connections[i];
    const uint32_t peer = registration.key.ranks[c.peer];
    if (segment_->isLocal(peer)) continue;
    uint32_t number = static_cast<uint32_t>(ends_.size());
    if (freeNumbers_.empty()) {
      freeNumbers_.reserve(ends_.size() + 1);  // giving it back can't fail
      ends_.emplace_back();
    } else {
      number = freeNumbers_.back();
      freeNumbers_.pop_back();
    }
    registration.ends.push_back(number);
    const EndName name{number, nextTag_++};
    const Connector& connector = connectors[i];
    ends_[number].reset(new RemoteEnd{&registration,
                                      connector,
                                      static_cast<Protocol>(program.header.protocol),
                                      c.isSend != 0,
                                      peer,
                                      c.channel,
                                      SlotBytes(program, i),
                                      name,
                                      {},
                                      false,
                                      0,
                                      0,
                                      0,
                                      DonePositions(connector.slotCount)});
  }
}

void Proxy::apply(RemoteRegistration& registration, const Announcement& a) {
  SharedRegistrationRecord& record = *registration.shared->record();
  const auto member = static_cast<uint32_t>(
      std::find(registration.key.ranks.begin(), registration.key.ranks.end(), a.from) - registration.key.ranks.begin());
  for (const uint32_t number : registration.ends) {
    RemoteEnd& end = *ends_[number];
    if (end.rank != a.from) continue;
    for (const AnnouncedEnd& theirs : a.ends) {
      if (theirs.rank != rank_ || theirs.channel != end.channel || (theirs.isSend != 0) == end.isSend) continue;
      end.theirs = theirs.name;
      end.isKnown = true;
    }
  }
  if (registration.key.id.isSignature())
    queueNote(a.from, encode(NoteKind::present, RegistrationNote{registration.key, 0, a.coming}));
  SharedMember& their = record.members[member];
  // Another process of this machine may have been told first, also of what came later.
  if (their.coming >= a.coming || registration.shared->hasLeft(member)) return;
  their.coming = a.coming;
  const bool isFirst = their.state.load(order::relaxed) == SharedMember::absent;
  if (isFirst) their.firstRun = their.finishedRuns.load(order::relaxed) - a.runs;
  their.index = std::min(a.index, segment_->shape().collectives - 1);
  CollectiveRecord& mirror = segment_->records(a.from)[their.index];
  mirror.submittedRuns.store(a.runs + their.firstRun, order::relaxed);
  mirror.finishedRuns.store(a.runs + their.firstRun, order::relaxed);
  their.state.store(SharedMember::joined, order::release);
  if (isFirst) record.shared.registered.fetchAdd(1, order::acqRel);
}

void Proxy::tellMembers(const RemoteRegistration& registration, const std::vector<uint8_t>& note) {
  for (const uint32_t member : registration.remotes) queueNote(registration.key.ranks[member], note);
}

void Proxy::unbind(SharedRegistration& shared, uint64_t finishedRuns, Departure departure) {
  const std::lock_guard lock(mutex_);
  RemoteRegistration* const registration = find(shared);
  if (registration == nullptr) return;
  registration->finishedRuns = finishedRuns;
  if (departure == Departure::forNow) {
    registration->isAway = true;
    nextGeneration_[{registration->key.id, registration->key.ranks}] = registration->key.generation;
    tellMembers(*registration,
                encode(NoteKind::away, RegistrationNote{registration->key, finishedRuns, registration->coming}));
  } else {
    // Who hears later what this rank does next must know by then that this is over.
    if (shared.shared().isPoisoned()) tellPoison(*registration);
    if (registration->record->submittedRuns.load(order::relaxed) == 0) tellLeft(*registration);
    endStay(*registration);
  }
  notify();
}

void Proxy::tellLeft(RemoteRegistration& registration) {
  if (std::exchange(registration.hasToldLeft, true)) return;
  tellMembers(registration, encode(NoteKind::left, RegistrationNote{registration.key, registration.finishedRuns}));
}

/// This rank has left for good.
void Proxy::endStay(RemoteRegistration& registration) {
  const auto& [id, generation, ranks] = registration.key;
  if (registration.shared->shared().isComplete()) {
    generations_.forget(id, ranks);
  } else {
    generations_.endBefore(id, ranks, generation + 1);
  }
  uint32_t& following = nextGeneration_[{id, ranks}];
  following = std::max(following, generation + 1);
  registration.isAway = false;
  registration.isLeaving = true;
}

bool Proxy::holds(const SharedRegistration& shared) const {
  const std::lock_guard lock(mutex_);
  const auto isIt = [&](const auto& registration) { return registration->shared.get() == &shared; };
  return find(shared) != nullptr || std::ranges::any_of(dropped_, isIt);
}

void Proxy::tellPoisoned(SharedRegistration& shared) {
  const std::lock_guard lock(mutex_);
  RemoteRegistration* const registration = find(shared);
  if (registration == nullptr) return;
  tellPoison(*registration);
  notify();
}

void Proxy::tellPoison(RemoteRegistration& registration) {
  if (std::exchange(registration.hasToldPoison, true)) return;
  const uint32_t by = registration.shared->shared().poisonedBy.load(order::acquire);
  const auto [rank, presence] = registration.shared->lost();
  const uint64_t why = presence == Presence::joined ? by : rank | static_cast<uint64_t>(presence) << 32;
  tellMembers(registration, encode(NoteKind::poisoned, RegistrationNote{registration.key, why}));
}

RemoteRegistration* Proxy::find(const RegistrationKey& key) {
  const auto found = registrations_.find(key);
  return found == registrations_.end() ? nullptr : found->second.get();
}

RemoteRegistration* Proxy::find(const SharedRegistration& shared) const {
  for (const auto& [key, registration] : registrations_) {
    if (registration->shared.get() == &shared) return registration.get();
  }
  return nullptr;
}

}  // namespace dfccl

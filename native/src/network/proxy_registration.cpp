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
  if (const RemoteGroup* kept = findInUse({spec.id, last, spec.ranks}); kept != nullptr && kept->isAway) return last;
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

void Proxy::bind(const std::shared_ptr<SharedGroup>& shared, uint32_t generation, const CollectiveSpec& spec,
                 uint64_t digest, const BoundProgram& program, CollectiveRecord& record) {
  const std::lock_guard lock(mutex_);
  uint32_t& following = nextGeneration_[{spec.id, spec.ranks}];
  RemoteGroup& group = keptOrNew(shared, generation, spec, digest, program, record);
  const size_t toldBefore = outbox_.size();
  try {
    group.record = &record;
    announce(group, record.submittedRuns.load(order::relaxed));
  } catch (...) {
    // Nobody has heard of it yet.
    outbox_.resize(toldBefore);
    if (group.isAway) {
      endStay(group);
    } else {
      freeEnds(group);
      groups_.erase(GroupKey(group.key));
    }
    throw;
  }
  group.isAway = false;
  following = generation + 1;
  applyKnown(group);
  notify();
}

/// @return the group that this rank is away from, or another one.
RemoteGroup& Proxy::keptOrNew(const std::shared_ptr<SharedGroup>& shared, uint32_t generation,
                              const CollectiveSpec& spec, uint64_t digest, const BoundProgram& program,
                              const CollectiveRecord& record) {
  if (RemoteGroup* const kept = find(GroupKey{spec.id, generation, spec.ranks})) {
    kept->shared = shared;
    return *kept;
  }
  auto made = std::make_unique<RemoteGroup>();
  RemoteGroup& group = *made;
  group.key = {spec.id, generation, spec.ranks};
  group.shared = shared;
  group.spec = spec;
  group.spec.program.clear();
  group.digest = digest;
  group.member = record.member;
  for (uint32_t m = 0; m < spec.ranks.size(); ++m) {
    if (!segment_->isLocal(spec.ranks[m])) group.remotes.push_back(m);
  }
  try {
    makeEnds(group, program, record);
    groups_[group.key] = std::move(made);
  } catch (...) {
    freeEnds(group);
    throw;
  }
  return group;
}

/// @param runs that this rank has had in it.
void Proxy::announce(RemoteGroup& group, uint64_t runs) {
  Announcement own;
  own.coming = group.coming = ++comings_;
  own.runs = runs;
  own.generation = group.key.generation;
  own.index = group.record->index;
  own.spec = group.spec;
  own.digest = group.digest;
  for (const uint32_t number : group.ends) {
    const RemoteEnd& end = *ends_[number];
    own.ends.push_back({end.rank, end.channel, end.isSend, end.own});
  }
  group.unheard.clear();
  // Only what can be left for now needs that everybody knows who is there.
  for (const uint32_t m : group.remotes) {
    if (group.key.id.isSignature() && !group.shared->hasLeft(m)) group.unheard.push_back(group.key.ranks[m]);
  }
  group.record->isHeld.store(!group.unheard.empty(), order::release);
  tellMembers(group, encode(own));
}

/// What others have told of it before this rank came.
void Proxy::applyKnown(RemoteGroup& group) {
  if (const auto found = announced_.find(group.key.id); found != announced_.end()) {
    for (const Announcement& a : found->second) {
      if (a.key() == group.key) apply(group, a);
    }
  }
  // What another process of this machine hears later, and this one has heard already, is over.
  for (const uint32_t m : group.remotes) {
    SharedMember& their = group.shared->record()->members[m];
    const bool isAbsent = their.state.load(order::relaxed) == SharedMember::absent;
    if (isAbsent) their.coming = std::max(their.coming, lastHeard_[group.key.ranks[m]]);
  }
}

void Proxy::makeEnds(RemoteGroup& group, const BoundProgram& program, const CollectiveRecord& record) {
  group.ends.reserve(program.connections.size());
  for (uint32_t i = 0; i < program.connections.size(); ++i) {
    const ConnectionRecord& c = program.connections[i];
    const uint32_t peer = group.key.ranks[c.peer];
    if (segment_->isLocal(peer)) continue;
    uint32_t number = static_cast<uint32_t>(ends_.size());
    if (freeNumbers_.empty()) {
      freeNumbers_.reserve(ends_.size() + 1);  // giving it back can't fail
      ends_.emplace_back();
    } else {
      number = freeNumbers_.back();
      freeNumbers_.pop_back();
    }
    group.ends.push_back(number);
    const EndName name{number, nextTag_++};
    const Connector& connector = record.connections[i];
    ends_[number].reset(new RemoteEnd{&group,
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

void Proxy::apply(RemoteGroup& group, const Announcement& a) {
  SharedGroupRecord& record = *group.shared->record();
  const auto member = static_cast<uint32_t>(std::find(group.key.ranks.begin(), group.key.ranks.end(), a.from) -
                                            group.key.ranks.begin());
  for (const uint32_t number : group.ends) {
    RemoteEnd& end = *ends_[number];
    if (end.rank != a.from) continue;
    for (const AnnouncedEnd& theirs : a.ends) {
      if (theirs.rank != rank_ || theirs.channel != end.channel || (theirs.isSend != 0) == end.isSend) continue;
      end.theirs = theirs.name;
      end.isKnown = true;
    }
  }
  if (group.key.id.isSignature()) queueNote(a.from, encode(NoteKind::present, GroupNote{group.key, 0, a.coming}));
  SharedMember& their = record.members[member];
  // Another process of this machine may have been told first, also of what came later.
  if (their.coming >= a.coming || group.shared->hasLeft(member)) return;
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

void Proxy::tellMembers(const RemoteGroup& group, const std::vector<uint8_t>& note) {
  for (const uint32_t member : group.remotes) queueNote(group.key.ranks[member], note);
}

void Proxy::unbind(SharedGroup& shared, uint64_t finishedRuns, Departure departure) {
  const std::lock_guard lock(mutex_);
  RemoteGroup* const group = find(shared);
  if (group == nullptr) return;
  group->finishedRuns = finishedRuns;
  if (departure == Departure::forNow) {
    group->isAway = true;
    nextGeneration_[{group->key.id, group->key.ranks}] = group->key.generation;
    tellMembers(*group, encode(NoteKind::away, GroupNote{group->key, finishedRuns, group->coming}));
  } else {
    endStay(*group);
  }
  notify();
}

/// This rank has left for good.
void Proxy::endStay(RemoteGroup& group) {
  const auto& [id, generation, ranks] = group.key;
  if (group.shared->shared().isComplete()) {
    generations_.forget(id, ranks);
  } else {
    generations_.endBefore(id, ranks, generation + 1);
  }
  uint32_t& following = nextGeneration_[{id, ranks}];
  following = std::max(following, generation + 1);
  group.isAway = false;
  group.isLeaving = true;
}

void Proxy::tellPoisoned(SharedGroup& shared) {
  const std::lock_guard lock(mutex_);
  RemoteGroup* const group = find(shared);
  if (group == nullptr) return;
  tellPoison(*group);
  notify();
}

void Proxy::tellPoison(RemoteGroup& group) {
  if (std::exchange(group.hasToldPoison, true)) return;
  const uint32_t by = group.shared->shared().poisonedBy.load(order::acquire);
  const auto [rank, presence] = group.shared->lost();
  const uint64_t why = presence == Presence::joined ? by : rank | static_cast<uint64_t>(presence) << 32;
  tellMembers(group, encode(NoteKind::poisoned, GroupNote{group.key, why}));
}

RemoteGroup* Proxy::find(const GroupKey& key) {
  const auto found = groups_.find(key);
  return found == groups_.end() ? nullptr : found->second.get();
}

RemoteGroup* Proxy::find(SharedGroup& shared) {
  for (auto& [key, group] : groups_) {
    if (group->shared.get() == &shared) return group.get();
  }
  return nullptr;
}

}  // namespace dfccl

// What a proxy does when its own rank registers, aborts and unregisters.
#include <algorithm>
#include <utility>

#include "network/proxy.hpp"

namespace dfccl {

uint32_t Proxy::generationFor(const CollectiveSpec& spec, uint64_t digest) {
  // What another rank of this machine has given up, the other machines know to be over.
  const uint32_t alive =
      std::max(generations_.firstAlive(spec.id, spec.ranks), directory_.firstNotAborted(spec.id, spec.ranks));
  const std::lock_guard lock(mutex_);
  const Lists lists{spec.id, spec.ranks};
  const uint32_t generation = std::max({nextGeneration_[lists], deadGenerations_[lists], alive});
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
                 uint64_t digest, const BoundProgram& program, const CollectiveRecord& record) {
  const std::lock_guard lock(mutex_);
  auto made = std::make_unique<RemoteGroup>();
  RemoteGroup& group = *made;
  group.key = {spec.id, generation, spec.ranks};
  group.shared = shared;
  group.spec = spec;
  group.spec.program.clear();
  group.digest = digest;
  group.member = record.member;
  group.record = &record;
  for (uint32_t m = 0; m < spec.ranks.size(); ++m) {
    if (!segment_->isLocal(spec.ranks[m])) group.remotes.push_back(m);
  }
  Announcement own;
  own.generation = generation;
  own.index = record.index;
  own.spec = group.spec;
  own.digest = digest;
  uint32_t& following = nextGeneration_[{spec.id, spec.ranks}];
  const size_t toldBefore = outbox_.size();
  try {
    makeEnds(group, program, record, own.ends);
    groups_[group.key] = std::move(made);
    tellMembers(group, encode(own));
  } catch (...) {
    // Nobody has heard of it yet.
    outbox_.resize(toldBefore);
    freeEnds(group);
    if (const auto kept = groups_.find(group.key); kept != groups_.end()) groups_.erase(kept);
    throw;
  }
  following = generation + 1;
  if (const auto found = announced_.find(spec.id); found != announced_.end()) {
    for (const Announcement& a : found->second) {
      if (a.generation == generation && a.spec.ranks == spec.ranks) apply(group, a);
    }
  }
  notify();
}

void Proxy::makeEnds(RemoteGroup& group, const BoundProgram& program, const CollectiveRecord& record,
                     std::vector<AnnouncedEnd>& announced) {
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
    announced.push_back({peer, c.channel, c.isSend, name});
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
  SharedMember& their = record.members[member];
  // Another process of this machine may have been told first.
  if (their.state.load(order::relaxed) != SharedMember::absent) return;
  their.index = std::min(a.index, segment_->shape().collectives - 1);
  CollectiveRecord& mirror = segment_->records(a.from)[their.index];
  mirror.submittedRuns.store(0, order::relaxed);
  mirror.finishedRuns.store(0, order::relaxed);
  their.state.store(SharedMember::joined, order::release);
  record.shared.registered.fetchAdd(1, order::acqRel);
}

void Proxy::tellMembers(const RemoteGroup& group, const std::vector<uint8_t>& note) {
  for (const uint32_t member : group.remotes) queueNote(group.key.ranks[member], note);
}

void Proxy::unbind(SharedGroup& shared, uint64_t finishedRuns) {
  const std::lock_guard lock(mutex_);
  RemoteGroup* const group = find(shared);
  if (group == nullptr) return;
  if (shared.shared().isComplete()) {
    generations_.forget(group->key.id, group->key.ranks);
  } else {
    generations_.endBefore(group->key.id, group->key.ranks, group->key.generation + 1);
  }
  group->isLeaving = true;
  group->finishedRuns = finishedRuns;
  notify();
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

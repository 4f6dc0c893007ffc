#include "network/proxy.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "error.hpp"
#include "processes/peer_watch.hpp"

namespace dfccl {
namespace {

constexpr uint64_t kGoodbyeMillis = 5000;
constexpr int kRetryMillis = 1;    // where the segment's lock is taken
constexpr int kMostProgress = 64;  // of what comes in, before looking what is to go out

}  // namespace

Proxy::Proxy(std::shared_ptr<Network> network, std::shared_ptr<Segment> segment, const TileSizes& tiles,
             uint32_t muteMillis, Hooks hooks)
    : network_(std::move(network)),
      segment_(std::move(segment)),
      directory_(segment_, tiles),
      rank_(segment_->rank()),
      muteMillis_(muteMillis),
      hooks_(std::move(hooks)),
      presence_(segment_->ranks()),
      farewells_(segment_->ranks()) {
  for (auto& presence : presence_) presence.store(static_cast<uint32_t>(Presence::joined), order::relaxed);
  bell_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (bell_ < 0) {
    throw Error(dfcclSystemError, std::string("No descriptor to wait on: ") + std::strerror(errno) + ".",
                "Raise the limit on open files (ulimit -n).", {{"errno", std::to_string(errno)}});
  }
  links_ = std::make_unique<Links>(*network_, rank_, muteMillis, *this);
  for (const uint32_t rank : links_->peers()) {
    // For whoever looks at this machine's memory from outside.
    segment_->area(rank).presence.store(static_cast<uint32_t>(Presence::joined), order::relaxed);
  }
  thread_ = std::thread([this] { run(); });
}

Proxy::~Proxy() {
  stop();
  links_.reset();
  ::close(bell_);
}

void Proxy::stop() {
  {
    const std::lock_guard lock(mutex_);
    if (isStopping_) return;
    isStopping_ = true;
    stopBy_ = nowMillis() + std::min<uint64_t>(kGoodbyeMillis, muteMillis_);
    for (auto& [key, group] : groups_) {
      if (!group->isLeaving) group->finishedRuns = group->record->finishedRuns.load(order::acquire);
    }
  }
  notify();
  thread_.join();
}

bool Proxy::spans(const std::vector<uint32_t>& ranks) const {
  return std::any_of(ranks.begin(), ranks.end(), [&](uint32_t r) { return !segment_->isLocal(r); });
}

// The daemon's stores come before this exchange, and the proxy looks for them after its own: whichever is first in the
// order of the two, nothing is missed.
void Proxy::notify() {
  if (state_.exchange(State::notified, order::acqRel) != State::asleep) return;
  const uint64_t one = 1;
  (void)!write(bell_, &one, sizeof one);
}

void Proxy::run() {
  lastLoop_ = nowMillis();
  for (;;) {
    state_.exchange(State::looking, order::acqRel);
    const uint64_t now = nowMillis();
    const bool hasMoved = work(now);
    {
      const std::lock_guard lock(mutex_);
      if (isStopped_) return;
    }
    if (!hasMoved) sleep(now);
  }
}

bool Proxy::work(uint64_t now) {
  bool hasMoved = false;
  {
    const std::lock_guard lock(mutex_);
    for (int i = 0; i < kMostProgress && links_->transport().progress(); ++i) hasMoved = true;
    // Whoever has been stopped himself can't tell how long the others have been silent.
    links_->judge(now, now - lastLoop_ < std::max<uint64_t>(muteMillis_ / 2, 2 * links_->beatMillis()));
    lastLoop_ = now;
  }
  hasMoved |= handleNotes();
  letGroupsGo();
  {
    const std::lock_guard lock(mutex_);
    hasMoved |= moveSlots();
    tellProgress(now);
    for (auto& [rank, note] : std::exchange(outbox_, {})) links_->sendNote(rank, std::move(note));
    if (isStopping_) sayGoodbyes();
    answerGoodbyes();
    links_->flush(now);
    if (isStopping_ && (isFarewellOver() || now >= stopBy_)) isStopped_ = true;
  }
  if (std::exchange(hasDelivered_, false)) {
    hooks_.wake();
    hasMoved = true;
  }
  return hasMoved;
}

void Proxy::sleep(uint64_t) {
  {
    const std::lock_guard lock(mutex_);
    if (!links_->transport().arm()) return;
  }
  auto looking = static_cast<uint32_t>(State::looking);
  if (!state_.compareExchange(looking, State::asleep, order::acqRel, order::relaxed)) return;
  pollfd polled[2] = {{links_->transport().descriptor(), POLLIN, 0}, {bell_, POLLIN, 0}};
  poll(polled, 2, inbox_.empty() ? static_cast<int>(links_->beatMillis()) : kRetryMillis);
  uint64_t count;
  if (polled[1].revents != 0) (void)!read(bell_, &count, sizeof count);
}

// --- Slots and credits

bool Proxy::moveSlots() {
  bool hasMoved = false;
  for (auto& end : ends_) {
    if (!end || !end->isKnown) continue;
    hasMoved |= end->isSend ? send(*end) : giveCredit(*end);
  }
  return hasMoved;
}

bool Proxy::send(RemoteEnd& end) {
  const uint64_t tail = end.connector.memory->tail.load(order::acquire);
  if (end.moved == tail) return false;
  while (end.moved < tail) {
    const uint64_t position = end.moved++;
    const std::span<const uint8_t> payload(end.connector.slotAt(position), end.bytes.at(position, end.connector));
    ++end.underWay;
    links_->sendSlot(end.rank, end.theirs, position, payload, end.own);
  }
  return true;
}

bool Proxy::giveCredit(RemoteEnd& end) {
  const uint64_t head = end.connector.memory->head.load(order::acquire);
  if (end.moved == head) return false;
  end.moved = head;
  links_->sendCredit(end.rank, end.theirs, head);
  return true;
}

RemoteEnd* Proxy::endOf(EndName name) {
  if (name.number >= ends_.size() || !ends_[name.number]) return nullptr;
  RemoteEnd* const end = ends_[name.number].get();
  return end->own.tag == name.tag ? end : nullptr;
}

void Proxy::receivedSlot(uint32_t from, EndName name, uint64_t position, std::span<const uint8_t> payload) {
  RemoteEnd* const end = endOf(name);
  // None: of a collective that was aborted here, or isn't registered any more.
  if (end != nullptr && end->rank == from && end->put(position, payload)) hasDelivered_ = true;
}

void Proxy::receivedCredit(uint32_t from, EndName name, uint64_t freed) {
  RemoteEnd* const end = endOf(name);
  if (end == nullptr || end->rank != from || !end->isSend || freed > end->moved || freed <= end->freed) return;
  end->freed = freed;
  end->free();
  hasDelivered_ = true;
}

void Proxy::sentSlot(EndName own, uint64_t position) {
  if (own.number >= ends_.size() || !ends_[own.number]) return;
  RemoteEnd& end = *ends_[own.number];
  --end.underWay;
  // The cookie has the position's low bits: it is one of those not yet done.
  const uint64_t base = end.done.end();
  const uint64_t whole = base + ((position - base) & ((uint64_t{1} << 20) - 1));
  if (end.done.isAhead(whole)) end.done.mark(whole);
  end.free();
  hasDelivered_ = true;
}

// --- Registration

uint32_t Proxy::generationFor(const CollectiveSpec& spec, uint64_t digest) {
  const std::lock_guard lock(mutex_);
  const Lists lists{spec.id, spec.ranks};
  const uint32_t generation = std::max(nextGeneration_[lists], deadGenerations_[lists]);
  const auto found = announced_.find(spec.id);
  if (found == announced_.end()) return generation;
  for (const Announcement& a : found->second) {
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
  for (uint32_t i = 0; i < program.connections.size(); ++i) {
    const ConnectionRecord& c = program.connections[i];
    const uint32_t peer = spec.ranks[c.peer];
    if (segment_->isLocal(peer)) continue;
    uint32_t number = static_cast<uint32_t>(ends_.size());
    if (freeNumbers_.empty()) {
      ends_.emplace_back();
    } else {
      number = freeNumbers_.back();
      freeNumbers_.pop_back();
    }
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
                                      DoneWindow(connector.slotCount)});
    group.ends.push_back(number);
    own.ends.push_back({peer, c.channel, c.isSend, name});
  }
  nextGeneration_[{spec.id, spec.ranks}] = generation + 1;
  const std::vector<uint8_t> note = encode(own);
  groups_[group.key] = std::move(made);
  tellMembers(group, note);
  if (const auto found = announced_.find(spec.id); found != announced_.end()) {
    for (const Announcement& a : found->second) {
      if (a.generation == generation && a.spec.ranks == spec.ranks) apply(group, a);
    }
  }
  notify();
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
  tellMembers(group, encode(NoteKind::poisoned, GroupNote{group.key, by}));
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

// --- Notes

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
      return handleLeft(from, note.group);
    case NoteKind::poisoned:
      handlePoisoned(from, note.group);
      return true;
    case NoteKind::progress:
      handleProgress(from, note.group);
      return true;
    case NoteKind::goodbye:
      farewells_[from].isAsked = true;
      farewells_[from].slotsToCome = note.value;
      lose(from, Presence::left);
      return true;
    case NoteKind::farewell:
      farewells_[from].isAnswered = true;
      return true;
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
  const auto dead = deadGenerations_.find({a.spec.id, ranks});
  if (!isForUs || (dead != deadGenerations_.end() && a.generation < dead->second)) return true;
  announced_[a.spec.id].push_back(a);
  for (auto& [key, group] : groups_) {
    if (key.id != a.spec.id || group->isLeaving || group->shared->shared().isPoisoned()) continue;
    const auto at = std::find(key.ranks.begin(), key.ranks.end(), a.from);
    if (at == key.ranks.end()) continue;
    const bool isSame = key == a.key();
    const auto member = static_cast<uint32_t>(at - key.ranks.begin());
    if (!isSame && (key.ranks == ranks || group->shared->hasJoined(member))) continue;
    try {
      checkAgreement(group->spec, group->digest, a.spec, a.digest, a.from);
      apply(*group, a);
      hasDelivered_ = true;
    } catch (const Error& e) {
      // Both have registered before either knew: what the second would have been told, both runs end with.
      group->shared->noteMismatch(e.message());
      poison(*group, a.from);
    }
  }
  return true;
}

void Proxy::markDead(const GroupKey& key) {
  uint32_t& dead = deadGenerations_[{key.id, key.ranks}];
  dead = std::max(dead, key.generation + 1);
}

void Proxy::poison(RemoteGroup& group, uint32_t rank) {
  uint32_t nobody = CollectiveShared::kNobody;
  group.shared->shared().poisonedBy.compareExchange(nobody, rank, order::acqRel, order::relaxed);
  hooks_.alarm();
}

void Proxy::handlePoisoned(uint32_t from, const GroupNote& note) {
  const std::lock_guard lock(mutex_);
  markDead(note.key);
  std::erase_if(announced_[note.key.id], [&](const Announcement& a) { return a.from == from && a.key() == note.key; });
  RemoteGroup* const group = find(note.key);
  if (group != nullptr) poison(*group, static_cast<uint32_t>(note.value));
}

bool Proxy::handleLeft(uint32_t from, const GroupNote& note) {
  const Segment::Lock lock(*segment_, std::try_to_lock);
  if (!lock.isHeld()) return false;
  const std::lock_guard own(mutex_);
  markDead(note.key);
  std::erase_if(announced_[note.key.id], [&](const Announcement& a) { return a.from == from && a.key() == note.key; });
  RemoteGroup* const group = find(note.key);
  if (group == nullptr) return true;
  SharedGroupRecord& record = *group->shared->record();
  const auto member =
      static_cast<uint32_t>(std::find(note.key.ranks.begin(), note.key.ranks.end(), from) - note.key.ranks.begin());
  if (member == note.key.ranks.size()) return true;
  record.members[member].finishedRuns.store(note.value, order::relaxed);
  record.members[member].state.store(SharedMember::left, order::release);
  // Not all had come: nobody can make up for it.
  if (!record.shared.isComplete()) poison(*group, from);
  return true;
}

void Proxy::handleProgress(uint32_t from, const GroupNote& note) {
  const std::lock_guard lock(mutex_);
  RemoteGroup* const group = find(note.key);
  if (group == nullptr) return;
  const auto member =
      static_cast<uint32_t>(std::find(note.key.ranks.begin(), note.key.ranks.end(), from) - note.key.ranks.begin());
  if (member == note.key.ranks.size() || !group->shared->isMember(member)) return;
  group->shared->recordOf(member).submittedRuns.store(note.value, order::release);
}

/// Now and then, for diagnosis: who has submitted how much.
void Proxy::tellProgress(uint64_t now) {
  if (now - lastTold_ < links_->beatMillis()) return;
  lastTold_ = now;
  for (auto& [key, group] : groups_) {
    if (group->isLeaving) continue;
    const uint64_t submitted = group->record->submittedRuns.load(order::acquire);
    if (std::exchange(group->toldSubmitted, submitted) == submitted) continue;
    tellMembers(*group, encode(NoteKind::progress, GroupNote{key, submitted}));
  }
}

// --- Leaving

void Proxy::lose(uint32_t rank, Presence presence) {
  auto joined = static_cast<uint32_t>(Presence::joined);
  if (!presence_[rank].compareExchange(joined, static_cast<uint32_t>(presence), order::acqRel, order::relaxed)) return;
  isAnyGone_.store(1, order::release);
  joined = static_cast<uint32_t>(Presence::joined);
  segment_->area(rank).presence.compareExchange(joined, static_cast<uint32_t>(presence), order::acqRel, order::relaxed);
  hooks_.alarm();
}

bool Proxy::isDrained(const RemoteGroup& group) const {
  const bool isOver = group.shared->shared().isPoisoned();
  return std::all_of(group.ends.begin(), group.ends.end(), [&](uint32_t number) {
    const RemoteEnd& end = *ends_[number];
    if (!end.isSend) return true;
    const bool isSent = end.moved == end.connector.memory->tail.load(order::acquire);
    return end.underWay == 0 && (isSent || isOver || !end.isKnown || !links_->isUp(end.rank));
  });
}

void Proxy::freeEnds(RemoteGroup& group) {
  for (const uint32_t number : group.ends) {
    ends_[number].reset();
    freeNumbers_.push_back(number);
  }
  group.ends.clear();
}

void Proxy::letGroupsGo() {
  std::vector<GroupKey> over;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [key, group] : groups_) {
      if (group->isLeaving && isDrained(*group)) over.push_back(key);
    }
  }
  if (over.empty()) return;
  const Segment::Lock lock(*segment_, std::try_to_lock);
  if (!lock.isHeld()) return;
  const std::lock_guard own(mutex_);
  for (const GroupKey& key : over) {
    RemoteGroup& group = *groups_[key];
    // It may have been aborted and unregistered before the watch looked.
    if (group.shared->shared().isPoisoned()) tellPoison(group);
    tellMembers(group, encode(NoteKind::left, GroupNote{key, group.finishedRuns}));
    freeEnds(group);
    group.shared->record()->members[group.member].state.store(SharedMember::left, order::release);
    if (group.shared->isAbandoned()) directory_.drop(*group.shared);
    groups_.erase(key);
  }
}

void Proxy::sayGoodbyes() {
  for (auto& [key, group] : groups_) {
    if (group->isLeaving) continue;
    const bool isThrough =
        group->record->finishedRuns.load(order::acquire) >= group->record->submittedRuns.load(order::acquire);
    if (isThrough && !isDrained(*group)) return;
  }
  for (const auto& [key, group] : groups_) {
    if (group->isLeaving) return;  // it will be gone soon
  }
  for (auto& [key, group] : groups_) {
    if (std::exchange(group->hasToldLeft, true)) continue;
    const std::vector<uint8_t> note = encode(NoteKind::left, GroupNote{key, group->finishedRuns});
    for (const uint32_t member : group->remotes) links_->sendNote(key.ranks[member], note);
  }
  for (const uint32_t rank : links_->peers()) {
    Farewell& farewell = farewells_[rank];
    if (!std::exchange(farewell.isSaid, true))
      links_->sendNote(rank, encode(NoteKind::goodbye, links_->slotsSentTo(rank)));
  }
}

/// So that nothing is on its way any more when a process ends: its system would throw it away.
void Proxy::answerGoodbyes() {
  for (const uint32_t rank : links_->peers()) {
    Farewell& farewell = farewells_[rank];
    if (!farewell.isAsked || farewell.isGiven || links_->slotsFrom(rank) < farewell.slotsToCome) continue;
    farewell.isGiven = true;
    links_->sendNote(rank, encode(NoteKind::farewell, uint64_t{0}));
  }
}

bool Proxy::isFarewellOver() const {
  return std::all_of(links_->peers().begin(), links_->peers().end(), [&](uint32_t rank) {
    const Farewell& farewell = farewells_[rank];
    if (!links_->isUp(rank)) return true;
    return farewell.isSaid && farewell.isAnswered && (!farewell.isAsked || farewell.isGiven);
  });
}

}  // namespace dfccl

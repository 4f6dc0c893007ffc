#include "processes/shared_group.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include "program/join_moves.hpp"

namespace dfccl {
namespace {

// More than any platform executes jointly.
constexpr uint64_t kMostJointBytes = 1 << 20;

template <class T>
T* make(SharedArena arena, size_t count) {
  return reinterpret_cast<T*>(arena.allocate(count * sizeof(T)));
}

template <class T>
void drop(SharedArena arena, T* array, size_t count) {
  arena.free(reinterpret_cast<uint8_t*>(const_cast<std::remove_const_t<T>*>(array)), count * sizeof(T));
}

CollectiveSpec specOf(const SharedGroupRecord& record) {
  CollectiveSpec spec;
  spec.id = record.shared.id;
  spec.collective = record.collective;
  spec.type = record.type;
  spec.op = record.op;
  spec.count = record.count;
  spec.root = record.root;
  spec.ranks.assign(record.ranks, record.ranks + record.shared.members);
  return spec;
}

size_t connectionBytes(const Connector& c) { return sizeof(ConnectorMemory) + size_t{c.slotCount} * c.slotBytes; }

// Of the record and its arrays, in one piece: those with the strictest alignment come first.
constexpr size_t recordBytes(uint32_t members) {
  return sizeof(SharedGroupRecord) +
         members * (sizeof(Mailbox) + sizeof(SharedMember) + 2 * sizeof(uint8_t*) + sizeof(double) + sizeof(uint32_t));
}

void freeRecord(Segment& segment, SharedGroupRecord* record) {
  SharedArena arena = segment.arena();
  const uint32_t members = record->shared.members;
  for (uint32_t m = 0; m < members; ++m) {
    const SharedMember& member = record->members[m];
    drop(arena, record->scratch[m], member.scratchBytes);
    drop(arena, record->landings[m], member.landingBytes);
    drop(arena, member.program, member.programBytes);
  }
  for (SharedConnection* c = record->connections; c != nullptr;) {
    SharedConnection* next = c->next;
    drop(arena, reinterpret_cast<uint8_t*>(c->connector.memory), connectionBytes(c->connector));
    drop(arena, c, 1);
    c = next;
  }
  drop(arena, record->jointMoves, record->shared.joint.moves.size());
  drop(arena, record->jointRefs, record->shared.joint.refs.size());
  arena.free(reinterpret_cast<uint8_t*>(record), recordBytes(members));
}

SharedGroupRecord* makeRecord(Segment& segment, const CollectiveSpec& spec, uint64_t digest) {
  const auto members = static_cast<uint32_t>(spec.ranks.size());
  uint8_t* next = segment.arena().allocate(recordBytes(members));
  const auto carve = [&](auto*& array, size_t count) {
    array = reinterpret_cast<std::remove_reference_t<decltype(array)>>(next);
    next += count * sizeof *array;
  };
  SharedGroupRecord* record;
  carve(record, 1);
  new (record) SharedGroupRecord{};
  carve(record->mailboxes, members);
  carve(record->members, members);
  carve(record->scratch, members);
  carve(record->landings, members);
  carve(record->scales, members);
  carve(record->ranks, members);
  record->collective = spec.collective;
  record->type = spec.type;
  record->op = spec.op;
  record->count = spec.count;
  record->root = spec.root;
  record->programDigest = digest;
  record->shared.id = spec.id;
  record->shared.members = members;
  record->shared.poisonedBy.store(CollectiveShared::kNobody, order::relaxed);
  std::copy(spec.ranks.begin(), spec.ranks.end(), record->ranks);
  std::fill(record->scales, record->scales + members, 1.0);
  record->finishedAccess = &record->shared.finishedAccess;
  CollectiveShared& shared = record->shared;
  shared.mailboxes = record->mailboxes;
  shared.knownMailboxes = record->mailboxes;
  shared.copyCount = 1;
  shared.mailboxCopies = &shared.mailboxes;
  shared.finishedAccessCopies = &record->finishedAccess;
  shared.scratch = record->scratch;
  shared.landings = record->landings;
  shared.scales = record->scales;
  shared.ranks = record->ranks;
  return record;
}

}  // namespace

void SharedMember::noteRuns(uint64_t submitted, uint64_t finished, uint64_t nowMillis) {
  const uint64_t since = waitingSinceMillis.load(order::relaxed);
  if (submitted <= finished) {
    if (since != 0) waitingSinceMillis.store(0, order::relaxed);
  } else if (since == 0 || waitingRun.load(order::relaxed) != finished) {
    waitingRun.store(finished, order::relaxed);
    waitingSinceMillis.store(nowMillis, order::relaxed);
  }
}

SharedGroup::SharedGroup(std::shared_ptr<Segment> segment, SharedGroupRecord* record, const TileSizes& tiles)
    : segment_(std::move(segment)), record_(record), tiles_(tiles), spec_(specOf(*record)) {}

CollectiveRecord& SharedGroup::recordOf(uint32_t member) const {
  return segment_->records(record_->ranks[member])[record_->members[member].index];
}

uint64_t SharedGroup::finishedRunsOf(uint32_t member) const {
  const uint32_t state = stateOf(member);
  if (state == SharedMember::absent) return 0;
  if (state != SharedMember::joined) return record_->members[member].finishedRuns.load(order::acquire);
  // Of a rank on another machine that is gone nobody knows whether its data had left it.
  return isLocal(member) ? recordOf(member).finishedRuns.load(order::acquire) : 0;
}

bool SharedGroup::hasLetGo(uint32_t member) const {
  // From another machine nobody touches buffers here.
  if (!isMember(member) || !isLocal(member)) return true;
  if (recordOf(member).blocksDropped.load(order::acquire) == segment_->shape().grid) return true;
  const uint32_t rank = record_->ranks[member];
  return segment_->presenceOf(rank) != Presence::joined && segment_->isProcessGone(rank);
}

void SharedGroup::checkAgreement(const CollectiveSpec& spec, uint64_t programDigest, uint32_t rank) const {
  dfccl::checkAgreement(spec_, record_->programDigest, spec, programDigest, rank);
}

Connector SharedGroup::connectionTo(uint32_t source, uint32_t destination, uint32_t channel, uint32_t slotCount,
                                    uint32_t slotBytes) {
  for (SharedConnection* c = record_->connections; c != nullptr; c = c->next) {
    if (c->source == source && c->destination == destination && c->channel == channel) return c->connector;
  }
  SharedArena arena = segment_->arena();
  auto* connection = make<SharedConnection>(arena, 1);
  uint8_t* memory;
  try {
    memory = make<uint8_t>(arena, sizeof(ConnectorMemory) + size_t{slotCount} * slotBytes);
  } catch (...) {
    drop(arena, connection, 1);
    throw;
  }
  auto* counters = new (memory) ConnectorMemory{};
  const Connector connector{counters, memory + sizeof(ConnectorMemory), slotCount, slotBytes, counters};
  new (connection) SharedConnection{record_->connections, source, destination, channel, connector};
  record_->connections = connection;
  return connector;
}

void SharedGroup::joinAllMoves() {
  std::vector<std::shared_ptr<const BoundProgram>> loaded;
  std::vector<const BoundProgram*> programs;
  for (uint32_t m = 0; m < record_->shared.members; ++m) {
    const SharedMember& member = record_->members[m];
    loaded.push_back(loadProgram({member.program, member.programBytes}, spec_.type, spec_.count, tiles_));
    programs.push_back(loaded.back().get());
  }
  const OwnedJointMoves joint = joinMoves(programs);
  SharedArena arena = segment_->arena();
  record_->jointMoves = make<JointMove>(arena, joint.moves.size());
  record_->jointRefs = make<JointRef>(arena, joint.refs.size());
  std::copy(joint.moves.begin(), joint.moves.end(), record_->jointMoves);
  std::copy(joint.refs.begin(), joint.refs.end(), record_->jointRefs);
  record_->shared.joint = {{record_->jointMoves, joint.moves.size()}, {record_->jointRefs, joint.refs.size()}};
}

void SharedGroup::join(uint32_t member, const BoundProgram& program, std::span<const uint8_t> bytes, double scale,
                       CollectiveRecord& record) {
  // Everything that can fail comes first; what was taken before a failure belongs to the group and is used by a retry.
  SharedArena arena = segment_->arena();
  SharedMember& mine = record_->members[member];
  if (program.scratchBytes != 0 && mine.scratchBytes == 0) {
    record_->scratch[member] = make<uint8_t>(arena, program.scratchBytes);
    mine.scratchBytes = program.scratchBytes;
  }
  if (program.exchanges && mine.landingBytes == 0) {
    record_->landings[member] = make<uint8_t>(arena, program.landingBytes());
    mine.landingBytes = program.landingBytes();
  }
  if (mine.program == nullptr) {
    auto* kept = make<uint8_t>(arena, bytes.size());
    std::memcpy(kept, bytes.data(), bytes.size());
    mine.program = kept;
    mine.programBytes = bytes.size();
  }
  ends_.clear();
  const auto slotBytes = std::max<uint32_t>(
      128,
      static_cast<uint32_t>(
          (wireBytes(static_cast<Protocol>(program.header.protocol), program.slotPayloadBytes) + 127) / 128 * 128));
  for (const ConnectionRecord& c : program.connections) {
    const uint32_t source = c.isSend ? member : c.peer;
    const uint32_t destination = c.isSend ? c.peer : member;
    ends_.push_back(connectionTo(source, destination, c.channel, program.header.slotCount, slotBytes));
  }
  CollectiveShared& shared = record_->shared;
  const uint64_t togetherBytes = shared.togetherBytes.load(order::relaxed) + program.togetherBytes;
  const bool isLast = shared.registered.load(order::relaxed) + 1 == shared.members;
  if (isLast && !record_->spansHosts && togetherBytes <= kMostJointBytes) joinAllMoves();
  blockProgress_ = std::vector<Atomic<uint64_t, Scope::device>>(program.header.blockCount);
  record_->scales[member] = scale;
  shared.togetherBytes.store(record_->spansHosts ? kNeverTogether : togetherBytes, order::relaxed);
  mine.index = record.index;
  record.connections = ends_.data();
  record.scratch = record_->scratch[member];
  record.shared = &shared;
  record.places = &shared;
  record.place(program);
  record.blockProgress = blockProgress_.data();
  mine.state.store(SharedMember::joined, order::release);
  shared.registered.fetchAdd(1, order::acqRel);
}

void SharedGroup::leave(uint32_t member) {
  SharedMember& m = record_->members[member];
  m.finishedRuns.store(recordOf(member).finishedRuns.load(order::acquire), order::relaxed);
  const bool isReached = record_->spansHosts || record_->isOnDevices;
  m.state.store(isReached ? SharedMember::leaving : SharedMember::left, order::release);
}

void SharedGroup::joinOnDevice(uint32_t member, uint32_t index, std::span<const uint8_t> facts) {
  SharedMember& mine = record_->members[member];
  auto* kept = make<uint8_t>(segment_->arena(), facts.size());
  std::memcpy(kept, facts.data(), facts.size());
  mine.program = kept;
  mine.programBytes = facts.size();
  mine.index = index;
  record_->isOnDevices = true;
  mine.state.store(SharedMember::joined, order::release);
  record_->shared.registered.fetchAdd(1, order::acqRel);
}

std::span<const uint8_t> SharedGroup::factsOf(uint32_t member) const {
  const SharedMember& m = record_->members[member];
  if (stateOf(member) == SharedMember::absent) return {};
  return {m.program, m.programBytes};
}

bool SharedGroup::isAbandoned() const {
  for (uint32_t m = 0; m < record_->shared.members; ++m) {
    const uint32_t state = stateOf(m);
    const bool isIn = state == SharedMember::joined || state == SharedMember::leaving;
    if (isIn && isLocal(m) && !segment_->isProcessGone(record_->ranks[m])) return false;
  }
  return true;
}

void SharedGroup::noteLost(uint32_t rank, Presence presence) {
  uint64_t nobody = 0;
  const uint64_t lost = rank | static_cast<uint64_t>(presence) << 32;
  record_->lost.compareExchange(nobody, lost, order::acqRel, order::relaxed);
}

std::pair<uint32_t, Presence> SharedGroup::lost() const {
  const uint64_t lost = record_->lost.load(order::acquire);
  return {static_cast<uint32_t>(lost), lost == 0 ? Presence::joined : static_cast<Presence>(lost >> 32)};
}

void SharedGroup::noteMismatch(const std::string& text) {
  const std::lock_guard lock(mismatchMutex_);
  if (mismatch_.empty()) mismatch_ = text;
}

std::string SharedGroup::mismatch() const {
  const std::lock_guard lock(mismatchMutex_);
  return mismatch_;
}

size_t SharedGroup::connectorBytes() const {
  size_t bytes = 0;
  for (const SharedConnection* c = record_->connections; c != nullptr; c = c->next)
    bytes += connectionBytes(c->connector);
  return bytes;
}

size_t SharedGroup::jointBytes() const {
  const JointMoves& joint = record_->shared.joint;
  return joint.moves.size() * sizeof(JointMove) + joint.refs.size() * sizeof(JointRef);
}

std::shared_ptr<SharedGroup> SharedDirectory::groupFor(const CollectiveSpec& spec, uint32_t member, uint64_t digest,
                                                       std::optional<uint32_t> generation) {
  for (SharedGroupRecord* r = segment_->firstGroup(); r != nullptr; r = r->next) {
    if (r->shared.id != spec.id) continue;
    auto group = std::make_shared<SharedGroup>(segment_, r, tiles_);
    // Of another registration of the same ranks; this rank is in at most one of them.
    const bool isOther = generation && group->spec().ranks == spec.ranks && r->generation != *generation;
    if (isOther && !group->isMember(member)) continue;
    if (isToJoin(*group, spec, member, digest)) return group;
  }
  SharedGroupRecord* record = makeRecord(*segment_, spec, digest);
  record->generation = generation.value_or(0);
  record->spansHosts = generation.has_value();
  append(*record);
  return std::make_shared<SharedGroup>(segment_, record, tiles_);
}

/// Behind those that are there: a rank joins the oldest that it has not been in.
void SharedDirectory::append(SharedGroupRecord& record) {
  SharedGroupRecord* last = segment_->firstGroup();
  while (last != nullptr && last->next != nullptr) last = last->next;
  if (last == nullptr) return segment_->setFirstGroup(&record);
  last->next = &record;
}

void SharedDirectory::drop(SharedGroup& group) {
  SharedGroupRecord* const dropped = group.record();
  if (segment_->firstGroup() == dropped) {
    segment_->setFirstGroup(dropped->next);
  } else {
    for (SharedGroupRecord* r = segment_->firstGroup(); r != nullptr; r = r->next) {
      if (r->next != dropped) continue;
      r->next = dropped->next;
      break;
    }
  }
  freeRecord(*segment_, dropped);
}

}  // namespace dfccl

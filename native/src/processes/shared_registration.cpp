#include "processes/shared_registration.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include "daemon/framing/protocols.hpp"
#include "processes/shared_pieces.hpp"
#include "program/join_moves.hpp"

namespace dfccl {
namespace {

// More than any platform executes jointly.
constexpr uint64_t kMostJointBytes = 1 << 20;

}  // namespace

CollectiveSpec specOf(const SharedRegistrationRecord& record) {
  CollectiveSpec spec;
  spec.id = record.id;
  spec.collective = record.collective;
  spec.type = record.type;
  spec.op = record.op;
  spec.count = record.count;
  spec.countPerRun = record.countPerRun;
  spec.mostBlocks = record.mostBlocks;
  spec.root = record.root;
  spec.signature = record.signature;
  spec.ranks.assign(record.ranks, record.ranks + record.shared.members);
  return spec;
}

void SharedMember::noteRuns(uint64_t submitted, uint64_t finished, uint64_t nowMillis) {
  const uint64_t since = waitingSinceMillis.load(order::relaxed);
  if (submitted <= finished) {
    if (since != 0) waitingSinceMillis.store(0, order::relaxed);
  } else if (since == 0 || waitingRun.load(order::relaxed) != finished) {
    waitingRun.store(finished, order::relaxed);
    waitingSinceMillis.store(nowMillis, order::relaxed);
  }
}

SharedRegistration::SharedRegistration(std::shared_ptr<Segment> segment, SharedRegistrationRecord* record,
                                       const TileSizes& tiles)
    : segment_(std::move(segment)), record_(record), tiles_(tiles), spec_(specOf(*record)) {}

CollectiveRecord& SharedRegistration::recordOf(uint32_t member) const {
  return segment_->records(record_->ranks[member])[record_->members[member].index];
}

uint64_t SharedRegistration::finishedRunsOf(uint32_t member) const {
  const uint32_t state = stateOf(member);
  const bool isThere = state == SharedMember::joined;
  // Of a rank on another machine that is gone nobody knows whether its data had left it, unless it has left in order.
  if (!isLocal(member) && (isThere || state == SharedMember::away)) return 0;
  if (!isThere) return record_->members[member].finishedRuns.load(order::acquire);
  return recordOf(member).finishedRuns.load(order::acquire);
}

bool SharedRegistration::hasLetGo(uint32_t member) const {
  // From another machine nobody touches buffers here.
  if (!isMember(member) || !isLocal(member)) return true;
  if (recordOf(member).blocksDropped.load(order::acquire) == segment_->shape().grid) return true;
  const uint32_t rank = record_->ranks[member];
  return segment_->presenceOf(rank) != Presence::joined && segment_->isProcessGone(rank);
}

void SharedRegistration::checkAgreement(const CollectiveSpec& spec, uint64_t programDigest, uint32_t rank) const {
  dfccl::checkAgreement(spec_, record_->programDigest, spec, programDigest, rank);
}

Connector SharedRegistration::connectionTo(uint32_t source, uint32_t destination, uint32_t channel, uint32_t slotCount,
                                           uint32_t slotBytes) {
  for (SharedConnection* c = record_->connections; c != nullptr; c = c->next) {
    if (c->source == source && c->destination == destination && c->channel == channel) return c->connector;
  }
  SharedArena arena = segment_->arena();
  auto* connection = makeShared<SharedConnection>(arena, 1);
  uint8_t* memory;
  try {
    memory = makeShared<uint8_t>(arena, sizeof(ConnectorMemory) + size_t{slotCount} * slotBytes);
  } catch (...) {
    dropShared(arena, connection, 1);
    throw;
  }
  auto* counters = new (memory) ConnectorMemory{};
  const Connector connector{counters, memory + sizeof(ConnectorMemory), slotCount, slotBytes, counters};
  new (connection) SharedConnection{record_->connections, source, destination, channel, connector};
  record_->connections = connection;
  return connector;
}

void SharedRegistration::joinAllMoves() {
  std::vector<std::shared_ptr<const BoundProgram>> loaded;
  std::vector<const BoundProgram*> programs;
  for (uint32_t m = 0; m < record_->shared.members; ++m) {
    const SharedMember& member = record_->members[m];
    loaded.push_back(loadProgram({member.program, member.programBytes}, spec_.type, spec_.count, tiles_));
    programs.push_back(loaded.back().get());
  }
  const OwnedJointMoves joint = spec_.countPerRun ? joinMovesOfOne(programs, kMostJointBytes) : joinMoves(programs);
  SharedArena arena = segment_->arena();
  record_->jointMoves = makeShared<JointMove>(arena, joint.moves.size());
  record_->jointRefs = makeShared<JointRef>(arena, joint.refs.size());
  std::copy(joint.moves.begin(), joint.moves.end(), record_->jointMoves);
  std::copy(joint.refs.begin(), joint.refs.end(), record_->jointRefs);
  record_->shared.joint = {
      {record_->jointMoves, joint.moves.size()}, {record_->jointRefs, joint.refs.size()}, joint.bytesOfOne};
}

void SharedRegistration::takeEnds(uint32_t member, const BoundProgram& program) {
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
}

void SharedRegistration::join(uint32_t member, std::shared_ptr<const BoundProgram> owned,
                              std::span<const uint8_t> bytes, double scale, CollectiveRecord& record) {
  const BoundProgram& program = *owned;
  if (isAway(member)) {
    takeEnds(member, program);
    return enter(member, program, record);
  }
  // Everything that can fail comes first; what was taken before a failure is the registration's, and a retry uses it.
  SharedArena arena = segment_->arena();
  SharedMember& mine = record_->members[member];
  if (program.scratchBytes != 0 && mine.scratchBytes == 0) {
    record_->scratch[member] = makeShared<uint8_t>(arena, program.scratchBytes);
    mine.scratchBytes = program.scratchBytes;
  }
  if (program.exchanges && mine.landingBytes == 0) {
    record_->landings[member] = makeShared<uint8_t>(arena, program.landingBytes());
    mine.landingBytes = program.landingBytes();
  }
  if (mine.program == nullptr) {
    auto* kept = makeShared<uint8_t>(arena, bytes.size());
    std::memcpy(kept, bytes.data(), bytes.size());
    mine.program = kept;
    mine.programBytes = bytes.size();
  }
  if (mine.blockCount == 0) {
    mine.blockProgress = makeShared<Atomic<uint64_t, Scope::device>>(arena, program.header.blockCount);
    mine.blockCount = program.header.blockCount;
  }
  takeEnds(member, program);
  CollectiveShared& shared = record_->shared;
  if (record.rings != nullptr && shared.ringProgress == nullptr) {
    auto* const progress = makeShared<RingProgress>(arena, shared.members);
    shared.ringProgress = new (progress) RingProgress[shared.members]{};
    record_->ringProgress = shared.ringProgress;
  }
  const uint64_t togetherBytes = record_->spansHosts || spec_.countPerRun || record.rings != nullptr
                                     ? kNeverTogether
                                     : shared.togetherBytes.load(order::relaxed) + program.togetherBytes;
  const bool isLast = shared.registered.load(order::relaxed) + 1 == shared.members;
  if (isLast && (spec_.countPerRun || togetherBytes <= kMostJointBytes)) joinAllMoves();
  record_->scales[member] = scale;
  shared.togetherBytes.store(togetherBytes, order::relaxed);
  enter(member, program, record);
  shared.registered.fetchAdd(1, order::acqRel);
}

void SharedRegistration::enter(uint32_t member, const BoundProgram& program, CollectiveRecord& record) {
  CollectiveShared& shared = record_->shared;
  SharedMember& mine = record_->members[member];
  mine.index = record.index;
  record.connections = ends_.data();
  record.scratch = record_->scratch[member];
  record.shared = &shared;
  record.places = &shared;
  record.place(program);
  record.blockProgress = mine.blockProgress;
  const uint64_t runs = mine.finishedRuns.load(order::relaxed);
  record.submittedRuns.store(runs, order::relaxed);
  record.finishedRuns.store(runs, order::relaxed);
  mine.state.store(SharedMember::joined, order::release);
}

void SharedRegistration::leave(uint32_t member, Departure departure, uint64_t finishedRuns) {
  SharedMember& m = record_->members[member];
  m.finishedRuns.store(finishedRuns, order::relaxed);
  m.state.store(departure == Departure::forNow ? SharedMember::away : goneState(), order::release);
  settle();
}

/// Of a member that has left for good.
SharedMember::State SharedRegistration::goneState() const {
  const bool isReached = record_->spansHosts || record_->isOnDevices;
  return isReached ? SharedMember::leaving : SharedMember::left;
}

/// Under one lock for all members at once, so that none of them comes back to what another one has freed.
void SharedRegistration::settle() {
  const std::span<const uint32_t> ranks(record_->ranks, record_->shared.members);
  const auto isGone = [&](uint32_t rank) { return segment_->isLocal(rank) && segment_->isProcessGone(rank); };
  std::vector<uint64_t> runs;
  for (uint32_t m = 0; m < ranks.size(); ++m) {
    if (isMember(m) && !isGone(ranks[m])) return;
    runs.push_back(runsAtLeaving(m));
  }
  const bool isNeeded = !areEven(runs) && !record_->shared.isPoisoned();
  if (isNeeded && (record_->spansHosts || std::none_of(ranks.begin(), ranks.end(), isGone))) return;
  for (uint32_t m = 0; m < record_->shared.members; ++m) {
    if (isAway(m) && isLocal(m)) record_->members[m].state.store(goneState(), order::release);
  }
}

void SharedRegistration::comeBackOnDevice(uint32_t member, uint32_t index) {
  SharedMember& mine = record_->members[member];
  mine.index = index;
  mine.state.store(SharedMember::joined, order::release);
}

void SharedRegistration::joinOnDevice(uint32_t member, uint32_t index, std::span<const uint8_t> facts) {
  SharedMember& mine = record_->members[member];
  auto* kept = makeShared<uint8_t>(segment_->arena(), facts.size());
  std::memcpy(kept, facts.data(), facts.size());
  mine.program = kept;
  mine.programBytes = facts.size();
  mine.index = index;
  mine.issuedRuns.store(0, order::relaxed);
  record_->isOnDevices = true;
  mine.state.store(SharedMember::joined, order::release);
  record_->shared.registered.fetchAdd(1, order::acqRel);
}

std::span<const uint8_t> SharedRegistration::factsOf(uint32_t member) const {
  const SharedMember& m = record_->members[member];
  if (stateOf(member) == SharedMember::absent) return {};
  return {m.program, m.programBytes};
}

bool SharedRegistration::isAbandoned() const {
  for (uint32_t m = 0; m < record_->shared.members; ++m) {
    const uint32_t state = stateOf(m);
    const bool isIn = state != SharedMember::absent && state != SharedMember::left;
    if (isIn && isLocal(m) && !segment_->isProcessGone(record_->ranks[m])) return false;
  }
  return true;
}

void SharedRegistration::noteLost(uint32_t rank, Presence presence) {
  uint64_t nobody = 0;
  const uint64_t lost = rank | static_cast<uint64_t>(presence) << 32;
  record_->lost.compareExchange(nobody, lost, order::acqRel, order::relaxed);
}

std::pair<uint32_t, Presence> SharedRegistration::lost() const {
  const uint64_t lost = record_->lost.load(order::acquire);
  return {static_cast<uint32_t>(lost), lost == 0 ? Presence::joined : static_cast<Presence>(lost >> 32)};
}

void SharedRegistration::noteMismatch(const std::string& text) {
  const std::lock_guard lock(mismatchMutex_);
  if (mismatch_.empty()) mismatch_ = text;
}

std::string SharedRegistration::mismatch() const {
  const std::lock_guard lock(mismatchMutex_);
  return mismatch_;
}

size_t SharedRegistration::connectorBytes() const {
  size_t bytes = 0;
  for (const SharedConnection* c = record_->connections; c != nullptr; c = c->next)
    bytes += connectionBytes(c->connector);
  return bytes;
}

size_t SharedRegistration::jointBytes() const {
  const JointMoves& joint = record_->shared.joint;
  return joint.moves.size() * sizeof(JointMove) + joint.refs.size() * sizeof(JointRef);
}

}  // namespace dfccl

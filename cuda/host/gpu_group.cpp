#include "host/gpu_group.hpp"

#include <cstring>
#include <type_traits>

#include "device/daemon_kernel.cuh"

namespace dfccl::gpu {

GpuGroup::GpuGroup(const CollectiveSpec& spec, uint64_t programDigest, std::vector<DeviceArena*> arenas)
    : spec_(spec), programDigest_(programDigest), arenas_(std::move(arenas)), joinedMembers_(spec.ranks.size()) {
  spec_.program.clear();
  const auto members = static_cast<uint32_t>(spec.ranks.size());
  for (uint32_t m = 0; m < members; ++m) {
    copies_.push_back({takeArray<CollectiveShared>(m, 1), takeArray<Mailbox>(m, members),
                       takeArray<Mailbox*>(m, members), takeArray<Atomic<uint64_t>*>(m, members),
                       takeArray<uint8_t*>(m, members), takeArray<uint8_t*>(m, members), takeArray<double>(m, members),
                       takeArray<uint32_t>(m, members)});
  }
  std::vector<Mailbox*> mailboxes;
  std::vector<Atomic<uint64_t>*> finished;
  for (const Copy& copy : copies_) {
    mailboxes.push_back(copy.mailboxes);
    finished.push_back(&copy.shared->finishedAccess);
  }
  const std::vector<double> scales(members, 1.0);
  for (uint32_t m = 0; m < members; ++m) {
    const Copy& copy = copies_[m];
    DeviceArena& arena = *arenas_[m];
    CollectiveShared shared{};
    shared.id = spec.id;
    shared.members = members;
    shared.mailboxes = copy.mailboxes;
    shared.knownMailboxes = copy.mailboxes;
    shared.copyCount = members;
    shared.mailboxCopies = copy.mailboxCopies;
    shared.finishedAccessCopies = copy.finishedAccessCopies;
    shared.scratch = copy.scratch;
    shared.landings = copy.landings;
    shared.scales = copy.scales;
    shared.ranks = copy.ranks;
    shared.poisonedBy.store(CollectiveShared::kNobody, order::relaxed);
    arena.write(copy.mailboxCopies, mailboxes.data(), members * sizeof(Mailbox*));
    arena.write(copy.finishedAccessCopies, finished.data(), members * sizeof(finished[0]));
    arena.write(copy.scales, scales.data(), members * sizeof(double));
    arena.write(copy.ranks, spec.ranks.data(), members * sizeof(uint32_t));
    arena.write(copy.shared, &shared, sizeof shared);
  }
}

GpuGroup::~GpuGroup() {
  for (const Taken& taken : taken_) taken.arena->free(taken.block, taken.bytes);
}

uint8_t* GpuGroup::take(uint32_t member, size_t bytes) {
  uint8_t* block = arenas_[member]->allocate(bytes);
  taken_.push_back({arenas_[member], block, bytes});
  return block;
}

const GpuGroup::Link& GpuGroup::linkOf(const ConnectionRecord& end, uint32_t member, uint32_t slotCount,
                                       uint32_t slotBytes) {
  const uint32_t source = end.isSend ? member : end.peer;
  const uint32_t destination = end.isSend ? end.peer : member;
  const ConnectionKey key{source, destination, end.channel};
  const auto found = links_.find(key);
  if (found != links_.end()) return found->second;
  auto* sending = takeArray<ConnectorMemory>(source, 1);
  auto* receiving = takeArray<ConnectorMemory>(destination, 1);
  uint8_t* slots = take(destination, size_t{slotCount} * slotBytes);
  return links_
      .emplace(key, Link{{sending, slots, slotCount, slotBytes, receiving},
                         {receiving, slots, slotCount, slotBytes, sending}})
      .first->second;
}

void GpuGroup::join(uint32_t member, std::shared_ptr<const BoundProgram> boundProgram, double scale,
                    const CollectiveRecord& begun, CollectiveRecord* place) {
  const BoundProgram& program = *boundProgram;
  DeviceArena& arena = *arenas_[member];
  const auto slotBytes = static_cast<uint32_t>(
      (wireBytes(static_cast<Protocol>(program.header.protocol), program.slotPayloadBytes) + 127) / 128 * 128);
  std::vector<Connector> ends;
  for (const ConnectionRecord& c : program.connections) {
    const Link& link = linkOf(c, member, program.header.slotCount, slotBytes < 128 ? 128 : slotBytes);
    ends.push_back(c.isSend ? link.send : link.receive);
  }
  auto* connections = takeArray<Connector>(member, ends.size());
  arena.write(connections, ends.data(), ends.size() * sizeof(Connector));
  uint8_t* scratch = program.scratchBytes == 0 ? nullptr : take(member, program.scratchBytes);
  CollectiveRecord record = begun;
  record.connections = connections;
  record.scratch = scratch;
  record.shared = copies_[member].shared;
  record.places = copies_[member].shared;
  record.blockProgress = takeArray<Atomic<uint64_t, Scope::device>>(member, program.header.blockCount);
  arena.write(place, &record, sizeof record);
  uint8_t* landing = program.exchanges ? take(member, program.landingBytes()) : nullptr;
  joinedMembers_[member] = {std::move(boundProgram), record, place, landing, scale};
  ++joined_;
  for (uint32_t m = 0; m < copies_.size(); ++m) {
    arenas_[m]->write(copies_[m].scratch + member, &scratch, sizeof scratch);
    arenas_[m]->write(copies_[m].landings + member, &landing, sizeof landing);
    arenas_[m]->write(copies_[m].scales + member, &scale, sizeof scale);
  }
  if (joined_ == copies_.size()) {
    for (uint32_t m = 0; m < copies_.size(); ++m) makeImage(m);
  }
  // Last: a copy that says that all are there must hold what they brought.
  for (uint32_t m = 0; m < copies_.size(); ++m) {
    arenas_[m]->write(&copies_[m].shared->registered, &joined_, sizeof joined_);
  }
}

namespace {

/// Lays records out behind one another, and knows where they will be on the device.
class ImageWriter {
 public:
  template <class T>
  size_t append(const T* items, size_t count) {
    const size_t at = (bytes_.size() + 15) / 16 * 16;
    bytes_.resize(at + count * sizeof(T));
    if (items != nullptr && count != 0) std::memcpy(bytes_.data() + at, items, count * sizeof(T));
    return at;
  }
  std::vector<uint8_t>& bytes() { return bytes_; }

 private:
  std::vector<uint8_t> bytes_;
};

}  // namespace

void GpuGroup::makeImage(uint32_t member) {
  const auto members = static_cast<uint32_t>(copies_.size());
  const Joined& mine = joinedMembers_[member];
  std::vector<Mailbox*> mailboxCopies;
  std::vector<Atomic<uint64_t>*> finishedCopies;
  std::vector<uint8_t*> scratch, landings;
  std::vector<double> scales;
  for (uint32_t m = 0; m < members; ++m) {
    mailboxCopies.push_back(copies_[m].mailboxes);
    finishedCopies.push_back(&copies_[m].shared->finishedAccess);
    scratch.push_back(joinedMembers_[m].record.scratch);
    landings.push_back(joinedMembers_[m].landing);
    scales.push_back(joinedMembers_[m].scale);
  }
  CollectiveRecord record = mine.record;
  MeetingPlaces places{};
  BoundProgram program = *mine.program;
  ImageWriter writer;
  const CollectiveImage empty{};
  writer.append(&empty, 1);
  const std::vector<Mailbox> known(members);
  const size_t knownAt = writer.append(known.data(), members);
  const size_t mailboxCopiesAt = writer.append(mailboxCopies.data(), members);
  const size_t finishedCopiesAt = writer.append(finishedCopies.data(), members);
  const size_t scratchAt = writer.append(scratch.data(), members);
  const size_t landingsAt = writer.append(landings.data(), members);
  const size_t scalesAt = writer.append(scales.data(), members);
  const size_t blocksAt = writer.append(program.blocks.data(), program.blocks.size());
  const size_t connectionsAt = writer.append(program.connections.data(), program.connections.size());
  const size_t stepsAt = writer.append(program.steps.data(), program.steps.size());
  const size_t refsAt = writer.append(program.refs.data(), program.refs.size());
  const size_t dependenciesAt = writer.append(program.dependencies.data(), program.dependencies.size());
  const size_t chunksAt = writer.append(program.chunks.data(), program.chunks.size());
  const size_t bytes = (writer.bytes().size() + 15) / 16 * 16;
  writer.bytes().resize(bytes);
  uint8_t* base = take(member, bytes);
  const auto point = [&](auto*& pointer, size_t at) {
    pointer = reinterpret_cast<std::remove_reference_t<decltype(pointer)>>(base + at);
  };
  places.members = places.copyCount = members;
  places.mailboxes = copies_[member].mailboxes;
  point(places.knownMailboxes, knownAt);
  point(places.mailboxCopies, mailboxCopiesAt);
  point(places.finishedAccessCopies, finishedCopiesAt);
  point(places.scratch, scratchAt);
  point(places.landings, landingsAt);
  point(places.scales, scalesAt);
  point(program.blocks.items, blocksAt);
  point(program.connections.items, connectionsAt);
  point(program.steps.items, stepsAt);
  point(program.refs.items, refsAt);
  point(program.dependencies.items, dependenciesAt);
  point(program.chunks.items, chunksAt);
  auto* const there = reinterpret_cast<CollectiveImage*>(base);
  record.places = &there->places;
  record.program = &there->program;
  auto* image = reinterpret_cast<CollectiveImage*>(writer.bytes().data());
  std::memcpy(static_cast<void*>(&image->record), &record, sizeof record);
  std::memcpy(static_cast<void*>(&image->places), &places, sizeof places);
  std::memcpy(static_cast<void*>(&image->program), &program, sizeof program);
  arenas_[member]->write(base, writer.bytes().data(), bytes);
  // A block that sees the image sees how long it is.
  const uint64_t length = bytes;
  arenas_[member]->write(&mine.place->imageBytes, &length, sizeof length);
  arenas_[member]->write(&mine.place->image, &base, sizeof base);
}

void GpuGroup::leave(uint32_t member) {
  joinedMembers_[member].hasLeft = true;
  ++left_;
}

bool GpuGroup::poison(uint32_t rank) {
  if (isPoisoned()) return false;
  poisonedBy_ = rank;
  for (uint32_t m = 0; m < joinedMembers_.size(); ++m) joinedMembers_[m].isAsked = isMember(m);
  return true;
}

bool GpuGroup::isQuarantineOver() const {
  for (uint32_t m = 0; m < joinedMembers_.size(); ++m) {
    if (!joinedMembers_[m].isAsked) continue;  // it never registered, or had left: it touches nothing
    if (arenas_[m]->readOne(&copies_[m].shared->abortAcknowledged).load(order::relaxed) == 0) return false;
  }
  return true;
}

MemberProgress GpuGroup::progressOf(uint32_t member) const {
  const uint32_t rank = spec_.ranks[member];
  if (!isMember(member)) return {rank, false, 0, 0};
  const CollectiveRecord* place = joinedMembers_[member].place;
  return {rank, true, arenas_[member]->readOne(&place->submittedRuns).load(order::relaxed),
          arenas_[member]->readOne(&place->finishedRuns).load(order::relaxed)};
}

uint64_t GpuGroup::finishedRunsOf(uint32_t member) const {
  return arenas_[member]->readOne(&joinedMembers_[member].place->finishedRuns).load(order::relaxed);
}

size_t GpuGroup::bytesOf(uint32_t member) const {
  size_t bytes = 0;
  for (const Taken& taken : taken_) {
    if (taken.arena == arenas_[member]) bytes += taken.bytes;
  }
  return bytes;
}

}  // namespace dfccl::gpu

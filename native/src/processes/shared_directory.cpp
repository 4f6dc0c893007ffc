#include "processes/shared_directory.hpp"

#include <algorithm>
#include <new>

#include "processes/shared_pieces.hpp"

namespace dfccl {
namespace {

// Of the record and its arrays, in one piece: those with the strictest alignment come first.
constexpr size_t recordBytes(uint32_t members) {
  return sizeof(SharedRegistrationRecord) +
         members * (sizeof(Mailbox) + sizeof(SharedMember) + 2 * sizeof(uint8_t*) + sizeof(double) + sizeof(uint32_t));
}

void freeRecord(Segment& segment, SharedRegistrationRecord* record) {
  SharedArena arena = segment.arena();
  const uint32_t members = record->shared.members;
  for (uint32_t m = 0; m < members; ++m) {
    const SharedMember& member = record->members[m];
    dropShared(arena, record->scratch[m], member.scratchBytes);
    dropShared(arena, record->landings[m], member.landingBytes);
    dropShared(arena, member.program, member.programBytes);
    dropShared(arena, member.blockProgress, member.blockCount);
  }
  for (SharedConnection* c = record->connections; c != nullptr;) {
    SharedConnection* next = c->next;
    dropShared(arena, reinterpret_cast<uint8_t*>(c->connector.memory), connectionBytes(c->connector));
    dropShared(arena, c, 1);
    c = next;
  }
  if (record->ringProgress != nullptr) dropShared(arena, record->ringProgress, members);
  dropShared(arena, record->jointMoves, record->shared.joint.moves.size());
  dropShared(arena, record->jointRefs, record->shared.joint.refs.size());
  arena.free(reinterpret_cast<uint8_t*>(record), recordBytes(members));
}

SharedRegistrationRecord* makeRecord(Segment& segment, const CollectiveSpec& spec, uint64_t digest) {
  const auto members = static_cast<uint32_t>(spec.ranks.size());
  uint8_t* next = segment.arena().allocate(recordBytes(members));
  const auto carve = [&](auto*& array, size_t count) {
    array = reinterpret_cast<std::remove_reference_t<decltype(array)>>(next);
    next += count * sizeof *array;
  };
  SharedRegistrationRecord* record;
  carve(record, 1);
  new (record) SharedRegistrationRecord{};
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
  record->countPerRun = spec.countPerRun;
  record->mostBlocks = spec.mostBlocks;
  record->root = spec.root;
  record->signature = spec.signature;
  record->programDigest = digest;
  record->id = spec.id;
  record->shared.id = spec.id.number;
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

std::shared_ptr<SharedRegistration> SharedDirectory::registrationFor(const CollectiveSpec& spec, uint32_t member,
                                                                     uint64_t digest,
                                                                     std::optional<uint32_t> generation) {
  for (SharedRegistrationRecord* r = listOf(spec.id); r != nullptr; r = r->next) {
    if (r->id != spec.id) continue;
    auto registration = std::make_shared<SharedRegistration>(segment_, r, tiles_);
    // Of another registration of the same ranks; this rank is in at most one of them.
    const bool isOther = generation && registration->spec().ranks == spec.ranks && r->generation != *generation;
    if (isOther && !registration->isMember(member)) continue;
    if (isToJoin(*registration, spec, member, digest)) return registration;
  }
  SharedRegistrationRecord* record = makeRecord(*segment_, spec, digest);
  record->generation = generation.value_or(0);
  record->spansHosts = generation.has_value();
  append(*record);
  return std::make_shared<SharedRegistration>(segment_, record, tiles_);
}

uint32_t SharedDirectory::firstNotAborted(const CollectiveId& id, const std::vector<uint32_t>& ranks) {
  uint32_t first = 0;
  for (const SharedRegistrationRecord* r = listOf(id); r != nullptr; r = r->next) {
    const bool isOfThem = r->id == id && r->spansHosts && std::ranges::equal(ranksOf(*r), ranks);
    if (isOfThem && r->shared.isPoisoned()) first = std::max(first, r->generation + 1);
  }
  return first;
}

SharedRegistrationRecord*& SharedDirectory::listOf(const CollectiveId& id) {
  return segment_->registrationList(Segment::registrationListOf(id));
}

/// Behind those that are there: a rank joins the oldest that it has not been in.
void SharedDirectory::append(SharedRegistrationRecord& record) {
  record.number = segment_->nextRegistrationNumber();
  SharedRegistrationRecord** end = &listOf(record.id);
  while (*end != nullptr) end = &(*end)->next;
  *end = &record;
}

void SharedDirectory::drop(SharedRegistration& registration) {
  SharedRegistrationRecord* const dropped = registration.record();
  for (SharedRegistrationRecord** r = &listOf(dropped->id); *r != nullptr; r = &(*r)->next) {
    if (*r != dropped) continue;
    *r = dropped->next;
    break;
  }
  freeRecord(*segment_, dropped);
}

}  // namespace dfccl

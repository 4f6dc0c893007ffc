#include "processes/shared_generations.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace dfccl {

/// In the segment, with its ranks behind it. It stays until all ranks of the machine have had a registration.
struct SharedGenerationRecord {
  SharedGenerationRecord* next;
  CollectiveId id;
  uint32_t firstAlive;
  uint32_t members;

  uint32_t* ranks() { return reinterpret_cast<uint32_t*>(this + 1); }
};

namespace {
size_t bytesFor(size_t members) { return sizeof(SharedGenerationRecord) + members * sizeof(uint32_t); }
}  // namespace

/// @return what points to the record; to null where there is none.
SharedGenerationRecord** SharedGenerations::find(const CollectiveId& id, const std::vector<uint32_t>& ranks) {
  SharedGenerationRecord** at = &segment_->generationList(Segment::registrationListOf(id));
  for (; *at != nullptr; at = &(*at)->next) {
    SharedGenerationRecord& r = **at;
    if (r.id == id && std::equal(r.ranks(), r.ranks() + r.members, ranks.begin(), ranks.end())) break;
  }
  return at;
}

uint32_t SharedGenerations::firstAlive(const CollectiveId& id, const std::vector<uint32_t>& ranks) {
  if (const SharedGenerationRecord* found = *find(id, ranks)) return found->firstAlive;
  SharedGenerationRecord*& first = segment_->generationList(Segment::registrationListOf(id));
  const auto members = static_cast<uint32_t>(ranks.size());
  uint8_t* const memory = segment_->arena().allocate(bytesFor(ranks.size()));
  auto* const made = new (memory) SharedGenerationRecord{first, id, 0, members};
  std::copy(ranks.begin(), ranks.end(), made->ranks());
  first = made;
  return 0;
}

void SharedGenerations::endBefore(const CollectiveId& id, const std::vector<uint32_t>& ranks, uint32_t generation) {
  SharedGenerationRecord* const record = *find(id, ranks);
  if (record != nullptr) record->firstAlive = std::max(record->firstAlive, generation);
}

void SharedGenerations::forget(const CollectiveId& id, const std::vector<uint32_t>& ranks) {
  SharedGenerationRecord** const at = find(id, ranks);
  if (*at == nullptr) return;
  auto* const memory = reinterpret_cast<uint8_t*>(std::exchange(*at, (*at)->next));
  segment_->arena().free(memory, bytesFor(ranks.size()));
}

void SharedGenerations::forgetFirst(const CollectiveId& id, const std::vector<uint32_t>& ranks) {
  const SharedGenerationRecord* const record = *find(id, ranks);
  if (record != nullptr && record->firstAlive == 0) forget(id, ranks);
}

}  // namespace dfccl

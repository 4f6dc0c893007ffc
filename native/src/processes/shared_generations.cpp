#include "processes/shared_generations.hpp"

#include <algorithm>
#include <new>

namespace dfccl {

/// In the segment, with its ranks behind it. It stays: an id's next registration is one more, whenever it comes.
struct SharedGenerationRecord {
  SharedGenerationRecord* next;
  CollectiveId id;
  uint32_t firstAlive;
  uint32_t members;

  uint32_t* ranks() { return reinterpret_cast<uint32_t*>(this + 1); }
};

SharedGenerationRecord* SharedGenerations::find(const CollectiveId& id, const std::vector<uint32_t>& ranks) {
  SharedGenerationRecord* r = segment_->generationList(Segment::groupListOf(id));
  while (r != nullptr && !(r->id == id && std::equal(r->ranks(), r->ranks() + r->members, ranks.begin(), ranks.end())))
    r = r->next;
  return r;
}

uint32_t SharedGenerations::firstAlive(const CollectiveId& id, const std::vector<uint32_t>& ranks) {
  if (const SharedGenerationRecord* found = find(id, ranks)) return found->firstAlive;
  SharedGenerationRecord*& first = segment_->generationList(Segment::groupListOf(id));
  const auto members = static_cast<uint32_t>(ranks.size());
  uint8_t* const memory = segment_->arena().allocate(sizeof(SharedGenerationRecord) + members * sizeof(uint32_t));
  auto* const made = new (memory) SharedGenerationRecord{first, id, 0, members};
  std::copy(ranks.begin(), ranks.end(), made->ranks());
  first = made;
  return 0;
}

void SharedGenerations::endBefore(const CollectiveId& id, const std::vector<uint32_t>& ranks, uint32_t generation) {
  SharedGenerationRecord& record = *find(id, ranks);
  record.firstAlive = std::max(record.firstAlive, generation);
}

}  // namespace dfccl

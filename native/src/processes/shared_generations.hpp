#pragma once
// Which registrations of an id by the same ranks are over, where these ranks are on several machines: what the ranks of
// one machine tell the other machines over their links, and one another here. Without it, one that comes late would
// register what the others know to be over, and wait for ever.
#include <cstdint>
#include <memory>
#include <vector>

#include "processes/segment.hpp"

namespace dfccl {

/// Under the segment's lock.
class SharedGenerations {
 public:
  explicit SharedGenerations(std::shared_ptr<Segment> segment) : segment_(std::move(segment)) {}

  /// The first registration that no rank of this machine has left. @throws Error dfcclOutOfMemory
  uint32_t firstAlive(const CollectiveId& id, const std::vector<uint32_t>& ranks);
  /// All before `generation` are over.
  void endBefore(const CollectiveId& id, const std::vector<uint32_t>& ranks, uint32_t generation);

  /// Every rank of this machine knows by itself: it was in the last one.
  void forget(const CollectiveId& id, const std::vector<uint32_t>& ranks);
  /// Where none is over, there is nothing to know.
  void forgetFirst(const CollectiveId& id, const std::vector<uint32_t>& ranks);

 private:
  SharedGenerationRecord** find(const CollectiveId& id, const std::vector<uint32_t>& ranks);

  std::shared_ptr<Segment> segment_;
};

}  // namespace dfccl

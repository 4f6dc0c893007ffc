#pragma once
#include <memory>
#include <optional>

#include "processes/shared_group.hpp"

namespace dfccl {

/// The registrations of a world of processes. Under the segment's lock.
class SharedDirectory {
 public:
  SharedDirectory(std::shared_ptr<Segment> segment, const TileSizes& tiles)
      : segment_(std::move(segment)), tiles_(tiles) {}

  /// The group that a rank belongs to which registers `spec` now; a new one, if need be.
  /// @param generation where members are on other machines: which registration of these ranks it is.
  /// @throws Error dfcclAlreadyRegistered, dfcclRegistrationMismatch, dfcclOutOfMemory
  std::shared_ptr<SharedGroup> groupFor(const CollectiveSpec& spec, uint32_t member, uint64_t digest,
                                        std::optional<uint32_t> generation = {});
  /// Where members are on other machines: the first generation behind those that were aborted and are still there.
  uint32_t firstNotAborted(const CollectiveId& id, const std::vector<uint32_t>& ranks);
  /// @pre group.isAbandoned()
  void drop(SharedGroup& group);

 private:
  SharedGroupRecord*& listOf(const CollectiveId& id);
  void append(SharedGroupRecord& record);

  std::shared_ptr<Segment> segment_;
  TileSizes tiles_;
};

}  // namespace dfccl

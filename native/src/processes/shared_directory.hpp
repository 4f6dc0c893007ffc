#pragma once
#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "processes/shared_registration.hpp"

namespace dfccl {

/// The registrations of a world of processes. Under the segment's lock.
class SharedDirectory {
 public:
  SharedDirectory(std::shared_ptr<Segment> segment, const TileSizes& tiles)
      : segment_(std::move(segment)), tiles_(tiles) {}

  /// The registration that a rank belongs to which registers `spec` now; a new one, if need be.
  /// @param generation where members are on other machines: which registration of these ranks it is.
  /// @throws Error dfcclAlreadyRegistered, dfcclRegistrationMismatch, dfcclOutOfMemory
  std::shared_ptr<SharedRegistration> registrationFor(const CollectiveSpec& spec, uint32_t member, uint64_t digest,
                                                      std::optional<uint32_t> generation = {});
  /// Where members are on other machines: the first generation behind those that were aborted and are still there.
  uint32_t firstNotAborted(const CollectiveId& id, const std::vector<uint32_t>& ranks);
  /// visit(const SharedRegistration&) for each of these ranks, in this order.
  template <class Visit>
  void forEachOf(const std::vector<uint32_t>& ranks, Visit&& visit) {
    for (uint32_t list = 0; list < Segment::kRegistrationLists; ++list) {
      for (SharedRegistrationRecord* r = segment_->registrationList(list); r != nullptr; r = r->next) {
        if (std::ranges::equal(ranksOf(*r), ranks)) visit(SharedRegistration(segment_, r, tiles_));
      }
    }
  }
  /// @pre registration.isAbandoned()
  void drop(SharedRegistration& registration);

 private:
  static std::span<const uint32_t> ranksOf(const SharedRegistrationRecord& record) {
    return {record.ranks, record.shared.members};
  }
  SharedRegistrationRecord*& listOf(const CollectiveId& id);
  void append(SharedRegistrationRecord& record);

  std::shared_ptr<Segment> segment_;
  TileSizes tiles_;
};

}  // namespace dfccl

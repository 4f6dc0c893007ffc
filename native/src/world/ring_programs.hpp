#pragma once
#include <cstdint>
#include <memory>

#include "daemon/state/staging_ring.hpp"
#include "program/program_loader.hpp"
#include "world/collective_spec.hpp"

namespace dfccl {

/// How large rings are, and what goes through them. Measured on 2 cores with 2 and 4 ranks: below the least bytes a
/// ring that is filled as a whole is as fast or faster; longer tiles and more slots gain nothing, shorter and fewer
/// cost up to half.
struct RingSizes {
  uint64_t leastBytes = 1 << 20;         // of a member's larger buffer
  uint64_t leastWholeBytes = 128 << 10;  // ... below leastBytes the whole input is in the ring before the run begins
  uint64_t tileBytes = 64 << 10;
  uint64_t leastTileBytes = 4 << 10;
  uint32_t slots = 8;
  uint64_t ringBytes =
      40 * (64 << 10);  // at most, if tiles of the least bytes allow it: what all take is to stay in caches
};

/// How a collective's runs go through rings, on one member.
struct OwnedRingPlan : RingPlan {
  std::shared_ptr<const BoundProgram> owned;
  uint64_t ringBytes = 0;  // that this member needs; 0: it has nothing for others

  /// All that others read of an input, if that is to be there when the run is submitted.
  void fillBefore(const void* input, void* ring) const;
};

/// The same on all members, as it follows from what all agree on. @return null: runs of so few bytes, or of this
/// collective, are better copied as a whole.
std::unique_ptr<const OwnedRingPlan> planRings(const CollectiveSpec& spec, uint32_t member,
                                               const RingSizes& sizes = {});

}  // namespace dfccl

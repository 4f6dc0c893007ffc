#pragma once
#include <cstdint>

namespace dfccl {

/// What a run is part of. Runs of different purposes never match, whatever else they have in common.
enum class Purpose : uint32_t {
  collective,
  pointToPoint,
  split,
  // A part of an uneven collective.
  allToAllV,
  allGatherV,
  reduceScatterV,
  gatherV,
  scatterV,
};

/// What a signature says that a registration needs only to be named by: see nameOf(const CollectiveSpec&).
struct SignatureFacts {
  Purpose purpose = Purpose::collective;
  uint64_t tag = 0;
  uint32_t graph = 0;  // whose runs they are, see GraphNumbers; 0: no graph's

  bool isCaptured() const { return graph != 0; }
};

}  // namespace dfccl

#include "host/lanes.hpp"

#include <algorithm>
#include <bit>
#include <limits>

namespace dfccl::gpu {
namespace {

uint32_t exchangeLanesFor(size_t bytes) {
  // So much a block's workers keep in their registers from the look at it to the reduction.
  constexpr size_t kPerLane = 7168;
  constexpr uint32_t kMost = 32;
  uint32_t lanes = 1;
  while (lanes * kPerLane < bytes && lanes < kMost) lanes *= 2;
  return lanes;
}

/// From where on 64 blocks move more than 32. A rank that only reads its peers' memory waits for each of its reads;
/// where it writes theirs, too, 32 blocks fill the link.
size_t leastForMost(Collective collective) {
  switch (collective) {
    case Collective::reduceScatter:
      return size_t{2} << 20;
    case Collective::reduce:
      return size_t{8} << 20;
    case Collective::allToAll:
      return size_t{16} << 20;
    default:
      return std::numeric_limits<size_t>::max();
  }
}

// Measured on two H200, every collective on 1, 4, 8, 16, 32 and 64 blocks at 8 KiB to 1 GiB: below 32 KiB a second
// block costs more than it moves, and from there on 32 are as good as any fewer.
uint32_t directLanesFor(Collective collective, size_t bytes) {
  constexpr size_t kOneLane = 32 << 10;
  if (bytes < kOneLane) return 1;
  return bytes < leastForMost(collective) ? 32 : 64;
}

}  // namespace

bool isExchanged(Collective collective, size_t bytes, uint32_t ranks) {
  constexpr size_t kMostSent = 448 << 10;  // by one rank to all others
  return collective == Collective::allReduce && ranks > 1 && bytes * (ranks - 1) <= kMostSent;
}

uint32_t lanesFor(Collective collective, size_t bytes, uint32_t ranks, uint32_t grid) {
  const uint32_t lanes =
      isExchanged(collective, bytes, ranks) ? exchangeLanesFor(bytes) : directLanesFor(collective, bytes);
  // Powers of two only: on 31 blocks large ones take a fifth longer than on 32. What is left of the grid is the
  // leader's.
  return std::min(lanes, std::bit_floor(grid));
}

}  // namespace dfccl::gpu

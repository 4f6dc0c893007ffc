#include "host/world/lanes.hpp"

#include <algorithm>
#include <bit>
#include <limits>

#include "world/large_programs.hpp"

namespace dfccl::gpu {
namespace {

uint32_t exchangeLanesFor(size_t bytes) {
  // A line for each of a block's workers, because a block sends no faster than they do; but telling others costs as
  // much as a second line.
  constexpr size_t kPerLane = 3584;
  constexpr uint32_t kMost = 32;
  if (bytes <= 2 * kPerLane) return 1;
  uint32_t lanes = 4;
  while (lanes * kPerLane < bytes && lanes < kMost) lanes *= 2;
  return lanes;
}

/// From where on 64 blocks move more than 32, by measurement.
size_t leastForMost(Collective collective, uint32_t ranks) {
  if (ranks == 2) return collective == Collective::reduceScatter ? size_t{2} << 20 : size_t{8} << 20;
  switch (collective) {
    case Collective::reduce:
      return size_t{8} << 20;
    case Collective::allGather:
      return size_t{16} << 20;
    default:
      return std::numeric_limits<size_t>::max();
  }
}

// Measured on two H200, every collective on 1, 4, 8, 16, 32 and 64 blocks at 8 KiB to 1 GiB: below 32 KiB a second
// block costs more than it moves, and from there on 32 are as good as any fewer.
uint32_t directLanesFor(Collective collective, size_t bytes, uint32_t ranks) {
  constexpr size_t kOneLane = 32 << 10;
  if (bytes < kOneLane) return 1;
  return bytes < leastForMost(collective, ranks) ? 32 : 64;
}

}  // namespace

bool isExchanged(Collective collective, size_t bytes, uint32_t ranks) {
  constexpr size_t kMostSent = 448 << 10;  // by one rank to all others
  return collective == Collective::allReduce && ranks > 1 && bytes * (ranks - 1) <= kMostSent;
}

bool isLarge(Collective collective, size_t bytes, uint32_t ranks) {
  constexpr size_t kLeast = 16 << 20;
  // A pair's links are as quick when both read and write at once, and so there is nothing to wait for in between.
  if (collective == Collective::allReduce && ranks == 2) return false;
  return ranks > 1 && bytes >= kLeast && hasLargeProgram(collective);
}

uint32_t lanesFor(Collective collective, size_t bytes, uint32_t ranks, uint32_t grid) {
  const uint32_t largeLanes = ranks == 2 ? 64 : 32;
  const uint32_t lanes = isExchanged(collective, bytes, ranks) ? exchangeLanesFor(bytes)
                         : isLarge(collective, bytes, ranks)   ? largeLanes
                                                               : directLanesFor(collective, bytes, ranks);
  // Powers of two only: on 31 blocks large ones take a fifth longer than on 32. What is left of the grid is the
  // leader's.
  return std::min(lanes, std::bit_floor(grid));
}

}  // namespace dfccl::gpu

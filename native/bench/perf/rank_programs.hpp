#pragma once
// Programs of one's own, as the engine is given them.
#include <cstdint>
#include <map>
#include <vector>

namespace dfccl::bench {

using RankPrograms = std::vector<std::vector<uint8_t>>;  // [rank]: bytes

/// By the number of blocks that they were built for.
using ProgramsByLanes = std::map<uint32_t, RankPrograms>;

/// The programs of the most blocks, up to so many, by which the elements can be divided: their chunks are all equal.
/// Else those of the fewest.
/// @pre !programs.empty()
inline const RankPrograms& choosePrograms(const ProgramsByLanes& programs, uint32_t mostLanes, uint64_t count) {
  const RankPrograms* best = &programs.begin()->second;
  for (const auto& [lanes, ofLanes] : programs) {
    if (lanes <= mostLanes && count % lanes == 0) best = &ofLanes;
  }
  return *best;
}

}  // namespace dfccl::bench

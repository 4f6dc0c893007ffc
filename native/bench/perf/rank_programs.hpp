#pragma once
// Programs of one's own, as the engine is given them.
#include <cstdint>
#include <iterator>
#include <map>
#include <vector>

namespace dfccl::bench {

using RankPrograms = std::vector<std::vector<uint8_t>>;  // [rank]: bytes

/// By the number of blocks that they were built for.
using ProgramsByLanes = std::map<uint32_t, RankPrograms>;

/// The programs of the most blocks, up to so many; else those of the fewest.
/// @pre !programs.empty()
inline const RankPrograms& choosePrograms(const ProgramsByLanes& programs, uint32_t mostLanes) {
  const auto firstTooWide = programs.upper_bound(mostLanes);
  return (firstTooWide == programs.begin() ? firstTooWide : std::prev(firstTooWide))->second;
}

}  // namespace dfccl::bench

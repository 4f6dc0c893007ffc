#pragma once
#include <cstdint>
#include <vector>

#include "world/collective_spec.hpp"

namespace dfccl {

/// Whether a collective of buffers so large that only the links count has a program of its own.
bool hasLargeProgram(Collective collective);

/// It: for links that carry as much in either direction at once, but less where reads and writes mix. No byte crosses
/// the root's link twice, and an all-reduce reads in its first half and writes in its second.
/// @pre rankCount > 1, hasLargeProgram(collective).
std::vector<uint8_t> buildLargeProgram(Collective collective, uint32_t rankCount, uint32_t rank, uint32_t root,
                                       uint32_t lanes);

}  // namespace dfccl

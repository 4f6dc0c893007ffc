#pragma once
#include <cstdint>
#include <vector>

#include "world/collective_spec.hpp"

namespace dfccl {

/// The direct program of a collective, for callers without JavaScript: the same bytes that packages/primitives'
/// builders encode (a test compares them).
std::vector<uint8_t> buildDirectProgram(Collective collective, uint32_t rankCount, uint32_t rank, uint32_t root,
                                        uint32_t lanes = 1);

/// The all-reduce in which every rank sends everything to every other at once (program.hpp, "Exchange"): for small
/// buffers. @pre rankCount > 1.
std::vector<uint8_t> buildExchangeProgram(uint32_t rankCount, uint32_t rank, uint32_t lanes = 1);

}  // namespace dfccl

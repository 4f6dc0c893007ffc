#pragma once
#include <cstdint>
#include <string>

#include "c_api/rank_context.hpp"

namespace dfccl::c_api {

/// What a rank's unfinished collectives wait for, in words. Of many, the first few, and how many more there are.
/// @param first which registration of a signature is told of before others; 0: none
std::string whyStalled(RankContext& context, uint64_t first = 0);

}  // namespace dfccl::c_api

#pragma once
#include <string>

#include "c_api/rank_context.hpp"

namespace dfccl::c_api {

/// What a rank's unfinished collectives wait for, in words. Of many, the first few, and how many more there are.
std::string whyStalled(RankContext& context);

}  // namespace dfccl::c_api

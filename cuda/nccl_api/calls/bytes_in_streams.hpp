#pragma once
// How large the collectives of a communicator are that are kernels in their streams: what all of its ranks allow.
#include <cstdint>
#include <vector>

#include "nccl_api/universe/arrivals.hpp"

namespace dfccl::nccl {

/// @param all what the ranks have told. @param areOpen their daemons were there already. @return bytes that a rank
/// receives, the same for all ranks; 0: none are.
uint64_t mostBytesInStreams(const std::vector<Arrival>& all, bool areOpen);

}  // namespace dfccl::nccl

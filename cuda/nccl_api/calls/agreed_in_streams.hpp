#pragma once
// Which collectives of a communicator are kernels in their streams, and of how many blocks: what all of its ranks
// allow.
#include <cstdint>
#include <vector>

#include "nccl_api/universe/arrivals.hpp"

namespace dfccl::nccl {

/// As dfcclGroupRunInStreams takes it: the same for all ranks.
struct InStreams {
  uint64_t mostBytes;  // that a rank receives; 0: none are
  int mostBlocks;      // 0: as many as they like
};

/// @param all what the ranks have told. @param areOpen their daemons were there already
InStreams agreedInStreams(const std::vector<Arrival>& all, bool areOpen);

}  // namespace dfccl::nccl

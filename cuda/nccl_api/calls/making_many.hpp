#pragma once
// Communicators that one thread makes at a time.
#include <vector>

#include "nccl_api/calls/making.hpp"

namespace dfccl::nccl {

/// Makes them; those that don't block, in threads that nobody waits for. Once one that blocks has failed, the waits of
/// the others that do end. @return the first failure, or ncclInProgress where some are still being made.
ncclResult_t makeAll(std::vector<Making> makings);

}  // namespace dfccl::nccl

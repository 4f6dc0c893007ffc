#pragma once
#include <vector>

#include "nccl_api/operation.hpp"

namespace dfccl::nccl {

/// Copies what ranks send to themselves in a group, and takes it out of the operations.
/// @throws Failure ncclInvalidUsage where a message's other half is missing, and nothing was done then.
void copySelfMessages(std::vector<Operation>& operations);

}  // namespace dfccl::nccl

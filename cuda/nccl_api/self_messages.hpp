#pragma once
#include <vector>

#include "nccl_api/operation.hpp"

namespace dfccl::nccl {

/// Copies what ranks send to themselves in a group, and takes it out of the operations. @pre the group's streams wait
/// for each other before it, and will after it.
/// @throws Failure ncclInvalidUsage where a message's other half is missing, and nothing was done then.
void copySelfMessages(std::vector<Operation>& operations);

}  // namespace dfccl::nccl

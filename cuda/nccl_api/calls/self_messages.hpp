#pragma once
#include <vector>

#include "nccl_api/calls/operation.hpp"

namespace dfccl::nccl {

/// Whether a rank sends to itself, or receives from itself. @throws Failure: its communicator can't be used.
bool isToSelf(const Operation& operation);
/// @throws Failure ncclInvalidUsage: such a message's other half is missing.
[[noreturn]] void refuseHalfAMessage();

/// Copies what ranks send to themselves in a group, and takes it out of the operations. @pre the group's streams wait
/// for each other before it, and will after it.
/// @throws Failure ncclInvalidUsage where a message's other half is missing, ncclInvalidArgument where a buffer is
/// none; nothing was done then.
void copySelfMessages(std::vector<Operation>& operations);

}  // namespace dfccl::nccl

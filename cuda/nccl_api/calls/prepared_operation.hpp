#pragma once
// What is done to an operation's input before it is queued.
#include <memory>

#include "nccl_api/calls/operation.hpp"

namespace dfccl::nccl {

/// Whether its stream captures.
bool isCapturing(const Operation& o);
/// Lets the stream multiply what the rank sends, into memory that the run may read it from.
/// @param scratch is kept until the run is over. @return the operation that remains. @throws Failure
Operation scaled(const Operation& o, std::shared_ptr<void>& scratch);
/// Lets the stream copy what the rank sends to all, into memory that the run may read it from: in place is not what a
/// run of that kind can do, and callers of NCCL's do it. @return the operation that remains. @throws Failure
Operation copied(const Operation& o, std::shared_ptr<void>& scratch);
bool isCopiedBefore(const Operation& o);
/// As the end of a batch does it. @throws Failure ncclInvalidArgument
void checkBuffers(const Operation& o);

}  // namespace dfccl::nccl

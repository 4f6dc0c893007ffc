#pragma once
// What a thread has asked for between ncclGroupStart and ncclGroupEnd, or does at once outside of them.
#include "nccl_api/calls/making.hpp"
#include "nccl_api/calls/operation.hpp"
#include "nccl_api/universe/entry.hpp"

namespace dfccl::nccl {

/// Makes a communicator, or does so when the thread's group ends. @throws Failure
ncclResult_t makeSoon(Making making);
/// Submits it, or does so when the thread's group ends. @throws Failure
ncclResult_t submitSoon(Operation operation);

/// Of one that the thread's open group was to make: it is not made.
void dropFromGroup(const std::shared_ptr<Communicator>& communicator) noexcept;

/// If a call that would belong to the thread's group has failed, nothing of the group is done, and its end returns the
/// same. @param result of the call, which this thread has just told of. @return `result`
ncclResult_t noteInGroup(ncclResult_t result) noexcept;

/// Runs the body of an entry point whose call belongs to the thread's group, if one is open. @return as entered()
template <class Body>
ncclResult_t enteredInGroup(const char* function, Body&& body) noexcept {
  return noteInGroup(entered(function, body));
}

}  // namespace dfccl::nccl

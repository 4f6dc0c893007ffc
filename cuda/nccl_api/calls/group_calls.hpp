#pragma once
// What a thread has asked for between ncclGroupStart and ncclGroupEnd, or does at once outside of them.
#include "nccl_api/calls/making.hpp"
#include "nccl_api/calls/operation.hpp"

namespace dfccl::nccl {

/// Makes a communicator, or does so when the thread's group ends. @throws Failure
ncclResult_t makeSoon(Making making);
/// Submits it, or does so when the thread's group ends. @throws Failure
ncclResult_t submitSoon(Operation operation);

}  // namespace dfccl::nccl

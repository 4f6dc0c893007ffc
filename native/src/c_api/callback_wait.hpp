#pragma once
// The end of a wait for a request: its run is over, and its callback may not have returned yet.
#include <cstdint>

#include "dfccl/dfccl.h"
#include "dfccl/groups.h"
#include "matching/request.hpp"

namespace dfccl::c_api {

/// Waits until the callback of a request that is over has returned, or somebody has given the request back. Nobody has
/// to be helped for that. @param timeoutMicros since `begin`, in ticks; 0: no limit. @throws Error dfcclTimeout
void waitForCallback(const Request& request, dfcclRequest_t handle, uint64_t timeoutMicros, uint64_t begin);

}  // namespace dfccl::c_api

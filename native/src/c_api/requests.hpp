#pragma once
#include <cstdint>

#include "dfccl/dfccl.h"

namespace dfccl::c_api {

/// Waits for a request's end, and gives it back. @throws Error dfcclTimeout, and it stays; dfcclAborted
void waitForRequest(dfcclRequest_t request, uint64_t timeoutMicros);
/// Of a run that was given up: the same without a limit, whatever its end is. Does nothing where it is given back.
void waitForEnd(dfcclRequest_t request) noexcept;

}  // namespace dfccl::c_api

#pragma once
#include <cstdint>

#include "dfccl/dfccl.h"

namespace dfccl::c_api {

/// Waits for a request's end, and gives it back. @throws Error dfcclTimeout, and it stays; dfcclAborted
void waitForRequest(dfcclRequest_t request, uint64_t timeoutMicros);

}  // namespace dfccl::c_api

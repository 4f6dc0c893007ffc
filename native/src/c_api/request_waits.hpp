#pragma once
// Threads and streams that wait for requests. A thread works meanwhile for the ranks that they are of.
#include <span>

#include "dfccl/dfccl.h"
#include "matching/request.hpp"

namespace dfccl::c_api {

/// Works on what it waits for, a bounded piece. @throws Error dfcclClosed
void helpOnce(Request& request);
/// @throws Error dfcclUnavailable, dfcclClosed; of the backend
void waitOnStream(const Request& request, void* stream);
/// Helps until one of the requests is over, or another's. @return which. @pre none is null but those that are passed
/// over. @throws Error dfcclTimeout, dfcclClosed; as Waiting
size_t waitForOne(std::span<Request* const> requests, const dfcclRequest_t* handles, uint64_t timeoutMicros);
void waitFor(Request& request, dfcclRequest_t handle, uint64_t timeoutMicros);
/// Helps until all requests are over, and works meanwhile for all their ranks: what one is over by may be up to
/// another. Worlds know nothing of each other, and come one behind the other.
void waitForAll(std::span<Request* const> requests, const dfcclRequest_t* handles, uint64_t timeoutMicros);

}  // namespace dfccl::c_api

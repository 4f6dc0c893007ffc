#pragma once
// A rank's way to a meeting on another machine.
#include <functional>
#include <vector>

#include "nccl_api/machines/request.hpp"

namespace dfccl::nccl {

/// Waits there until all ranks have come, as meet() does. @param reach of the process that made the id
/// @throws Failure what went wrong there; ncclRemoteError: that process can't be reached, or is gone.
std::vector<Arrival> visit(const Reach& reach, const Request& request, const std::function<bool()>& isCancelled);

}  // namespace dfccl::nccl

#pragma once
#include <functional>

namespace dfccl_torch {

/// Does this on a thread of ours, one after the other. The engine's threads hand over here what may take Python's lock
/// (callbacks of futures, the last reference to a tensor) or destroy a context, and never wait for either.
void runSoon(std::function<void()> errand);

}  // namespace dfccl_torch

#pragma once
#include <chrono>
#include <functional>

namespace dfccl_torch {

/// Does this on a thread of ours, one after the other. The engine's threads hand over here what may take Python's lock
/// (callbacks of futures, the last reference to a tensor) or destroy a context, and never wait for either.
void runSoon(std::function<void()> errand);
/// Before the interpreter ends: waits for the errand that is under way, and does none any more. Without Python's lock.
/// @return false: that one hasn't ended in time.
bool endErrands(std::chrono::milliseconds limit);

}  // namespace dfccl_torch

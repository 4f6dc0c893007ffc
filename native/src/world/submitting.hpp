#pragma once
// What stands between the buffers of a user's run and the queue, for every API: what hot paths have looked at already
// they don't ask here.
#include "world/backend.hpp"
#include "world/known_memory.hpp"

namespace dfccl {

/// Asks about memory that is not known yet, and remembers the answer. @throws Error where the rank's daemon doesn't
/// reach it, or is lost.
void askAboutMemory(Backend& backend, uint32_t rank, uint32_t index, const RunShape& shape, KnownBuffers& known,
                    const void* send, const void* recv);

/// The windows of a run's buffers, where members are processes with addresses of their own: what nobody looks at has
/// none, so its address says nothing either, and becomes null. @throws Error
RunWindows nameWindows(Backend& backend, uint32_t rank, const RunShape& shape, const void*& send, void*& recv);

/// @param slot what a submission has given instead of one. @throws Error dfcclOutOfMemory, dfcclQueueFull
[[noreturn]] void refuseSubmission(Backend& backend, uint32_t rank, uint32_t slot);

}  // namespace dfccl

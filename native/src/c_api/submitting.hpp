#pragma once
// The last steps of a run of the caller's: into the queue, and ring.
#include "c_api/rank_context.hpp"

namespace dfccl::c_api {

inline void ignoreCompletion(void*, dfcclResult_t) {}

/// What a submission that was not taken is answered. @param slot what it gave instead of one.
dfcclResult_t refuseSlot(RankContext& context, uint32_t slot) noexcept;

/// @pre The buffers are allowed. @param count of a run that brings its own.
inline dfcclResult_t submitRun(RankContext& context, const Registration& registration, const void* send, void* recv,
                               dfcclCallback_t callback, void* args, RunWindows windows, uint64_t count) {
  const uint32_t slot =
      context.queues().submit(registration.index, send, recv, callback != nullptr ? callback : ignoreCompletion, args,
                              windows, PlaceOnLine{}, count);
  if (!RankQueues::isTaken(slot)) [[unlikely]]
    return refuseSlot(context, slot);
  context.backend().ring();
  return dfcclSuccess;
}

}  // namespace dfccl::c_api

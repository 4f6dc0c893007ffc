#pragma once
#include "matching/request.hpp"
#include "world/rank_queues.hpp"

namespace dfccl {

/// What is called when a run is over. @param part of a request, which is its argument; null: nobody asked
inline RunCallback callbackOf(const RequestPart* part) {
  if (part == nullptr) return [](void*, dfcclResult_t) {};
  return [](void* its, dfcclResult_t status) { static_cast<RequestPart*>(its)->end(status); };
}

}  // namespace dfccl

#pragma once
// Where ranks are processes, they reach each other's segment only: what lies elsewhere is copied there, or goes there
// through a ring (daemon/state/staging_ring.hpp).
#include "matching/matched_collective.hpp"
#include "matching/request.hpp"

namespace dfccl {

/// Copies what other ranks can't reach, or gives the run its ring. In place, both copies stay where they are to each
/// other.
/// @param send, recv the buffers; get where the run is to find them. @param part gives the copies back, or the ring.
/// @throws Error dfcclOutOfMemory
void bringIntoReach(StagingPool& pool, const MatchedCollective& entry, const void*& send, void*& recv,
                    RequestPart& part);

}  // namespace dfccl

#pragma once
// The parts of a run that don't depend on what it computes (DFCCL, Fig. 7), each timed on the device by its clock.
// All times are in cycles of a multiprocessor, one a sample.
#include <cuda_runtime_api.h>

#include <cstdint>

#include "daemon/state/rank_memory.hpp"
#include "queues/completion_cas_slots.hpp"
#include "queues/completion_owned_slots.hpp"
#include "queues/completion_packed_ring.hpp"
#include "queues/completion_vanilla_ring.hpp"
#include "queues/spmc_submission.hpp"
#include "queues/submission_ring.hpp"

namespace dfccl::gpu::bench {

/// The engine's completion queue as the daemon posts to it: what orders the results has the device's scope, not the
/// system's, because nobody reads them across the bus.
struct OwnedSlotsByDaemon : CompletionOwnedSlots<> {
  class Producer {
   public:
    DFCCL_HD explicit Producer(const CompletionOwnedSlots<>& queue) : queue_(queue) {}
    DFCCL_HD bool post(uint32_t slot, uint64_t cqe);

   private:
    CompletionOwnedSlots<> queue_;
  };
};

/// One thread of each of `producers` blocks writes a result and posts `each` completions, some microseconds apart.
/// @param cycles [producers * each]. @param results [producers * each]
template <class Queue>
void launchPosts(const Queue& queue, uint32_t producers, uint32_t each, uint32_t* cycles, uint64_t* results,
                 cudaStream_t stream);

/// Every block reads `count` entries of the papers' queue for itself. @param cycles [blocks * count]
void launchSpmcReads(const SpmcSubmission& ring, uint32_t blocks, uint32_t count, uint32_t* cycles,
                     cudaStream_t stream);

/// One warp reads `count` entries of the engine's queue, as its polling warp does. @param cycles [count]
void launchLeaderReads(const SubmissionRing& ring, uint32_t count, uint32_t* cycles, cudaStream_t stream);

/// Brings the contexts of tasks 0 to count - 1 near, one after another, each in the place of the one before.
/// @param isDirty whether that one has changed, so that it is saved. @param cycles [count]
void launchContextLoads(const RankMemory* memory, uint32_t count, bool isDirty, uint32_t* cycles, cudaStream_t stream);

}  // namespace dfccl::gpu::bench

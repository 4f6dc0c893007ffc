#pragma once
// Everything a rank's daemon reads and writes, in device memory: it survives the daemon's leaving. The host makes it,
// the blocks share it.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "dfccl/daemon/block_feed.hpp"
#include "dfccl/daemon/counters.hpp"
#include "dfccl/daemon/records.hpp"
#include "dfccl/daemon/residency.hpp"
#include "dfccl/queues/completion_owned_slots.hpp"
#include "dfccl/queues/submission_consumer.hpp"
#include "dfccl/queues/submission_producer.hpp"
#include "dfccl/scheduling/scheduler.hpp"

namespace dfccl {

/// Fixed at start: nothing is allocated while a daemon may run.
struct RankLimits {
  uint32_t grid = 1;                // blocks of the daemon
  uint32_t submissionSlots = 4096;  // a power of two, <= 32768
  uint32_t completionSlots = 4096;  // runs in flight
  uint32_t collectives = 4096;      // registered at the same time
  uint32_t tasks = 8192;            // program blocks of them, together
};

/// A request of the host that is no run: an abort. Written under the world's lock, read by the leader.
struct ControlRing {
  static constexpr uint32_t kCapacity = 64;
  alignas(64) Atomic<uint64_t> tail;
  Atomic<uint64_t> head;
  Atomic<uint32_t> collectives[kCapacity];
};

struct QueueEntry {
  uint32_t task;
  int32_t priority;
};

/// A block's own part of device memory, and what the leader reads of it.
struct alignas(64) BlockMemory {
  // Facts for the leader's decision to leave.
  Atomic<uint32_t> isAllStuck;  // every task used up its threshold, or there is none
  Atomic<uint32_t> isTriedAll;  // every task was polled in this stay
  Atomic<uint32_t> queueLength;
  Atomic<uint64_t> progress;  // grows with every commit
  alignas(64) BlockCounters counters;
  // Persisted at quit, restored at start; between them the queue lives in the block's shared memory.
  std::vector<QueueEntry> savedQueue;
  uint32_t savedLength = 0;
  uint32_t savedCursor = 0;
  std::vector<uint32_t> nextRun;  // [run record]: the next run of the same collective that this block has taken in
  std::vector<uint32_t> lastRun;  // [collective]: the last one taken in
};

using EngineSubmissionProducer = SubmissionProducer<EngineSubmissionOrders>;
using EngineSubmissionConsumer = SubmissionConsumer<ReadMode::tail, EngineSubmissionOrders>;

struct RankMemory {
  RankMemory(uint32_t rank, const RankLimits& limits, const scheduling::SchedulePolicy& policy);
  RankMemory(const RankMemory&) = delete;
  RankMemory& operator=(const RankMemory&) = delete;

  /// In order (NCCL's way), a collective takes part only while it executes; otherwise its buffers are shown to peers
  /// when the run comes in rather than when it is scheduled.
  bool publishesEarly() const { return policy.streams == 0; }

  const uint32_t rank;
  const RankLimits limits;
  const scheduling::SchedulePolicy policy;

  Residency residency;
  Atomic<uint32_t> wakePending;  // a completion was posted for somebody who sleeps; whoever steps wakes him afterwards
  ControlRing control;
  RankCounters counters;
  std::vector<RunRecord> runs;                // [completion slot]
  std::vector<CollectiveRecord> collectives;  // [index]
  std::vector<TaskContext> contexts;          // [task]
  std::vector<uint8_t> isActive;              // [task]: some run of it is in its block's queue; its block's own
  std::vector<BlockMemory> blocks;            // [grid]
  SubmissionRing submissions;
  CompletionOwnedSlots<> completions;
  BlockFeed feed;

 private:
  struct FreeAligned {
    void operator()(void* p) const;
  };
  using Memory = std::unique_ptr<void, FreeAligned>;
  static Memory allocate(size_t bytes);

  Memory submissionMemory_, completionMemory_, feedMemory_;
};

}  // namespace dfccl

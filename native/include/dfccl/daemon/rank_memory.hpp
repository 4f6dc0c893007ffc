#pragma once
// Everything a rank's daemon reads and writes, in device memory: it survives the daemon's leaving. The host makes it,
// the blocks share it.
#include <bit>
#include <cstddef>
#include <cstdint>

#include "dfccl/array.hpp"
#include "dfccl/daemon/block_feed.hpp"
#include "dfccl/daemon/counters.hpp"
#include "dfccl/daemon/pending_runs.hpp"
#include "dfccl/daemon/records.hpp"
#include "dfccl/daemon/residency.hpp"
#include "dfccl/daemon/trace_point.hpp"
#include "dfccl/daemon/waiting_streams.hpp"
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
  uint32_t feedEntries = 0;         // of what the leader tells all blocks, a power of two; 0: see feedCapacity()
};

/// A request of the host that is no run: an abort. Written under the world's lock, read by the leader.
struct ControlRing {
  static constexpr uint32_t kCapacity = 64;
  alignas(64) Atomic<uint64_t> tail;
  Atomic<uint64_t> head;
  Atomic<uint32_t> collectives[kCapacity];

  /// What an entry says that is submitted now: a daemon that looks for requests less often than for entries must not
  /// begin a run whose id was aborted before.
  uint32_t flagsOfEntry() const {
    return tail.load(order::relaxed) != head.load(order::relaxed) ? kSqeAfterControl : 0;
  }
};

struct alignas(16) QueueEntry {
  uint32_t task;
  uint32_t collective;  // index
  int32_t priority;
};

/// What a block tells the leader, which decides when all leave. One word, because on a GPU each costs the leader a trip
/// to memory.
struct BlockFacts {
  uint64_t progress;     // grows with every step that moved something; 40 bits of it count
  uint32_t queueLength;  // 22 bits
  bool isAllStuck;       // every task used up its threshold, or there is none
  bool isTriedAll;       // every task was polled in this stay

  static constexpr uint64_t kProgressMask = (uint64_t{1} << 40) - 1;
  static constexpr uint32_t kMaxQueueLength = (1u << 22) - 1;

  DFCCL_HD constexpr uint64_t packed() const {
    return (progress & kProgressMask) << 24 | uint64_t{queueLength & kMaxQueueLength} << 2 | uint64_t{isTriedAll} << 1 |
           uint64_t{isAllStuck};
  }
  DFCCL_HD static constexpr BlockFacts of(uint64_t word) {
    return {word >> 24, static_cast<uint32_t>(word >> 2) & kMaxQueueLength, (word & 1) != 0, (word & 2) != 0};
  }
};

/// A block's own part of device memory, and what the leader reads of it.
struct alignas(64) BlockMemory {
  Atomic<uint64_t, Scope::device> facts;  // BlockFacts, packed
  alignas(64) BlockCounters counters;
  // Persisted at quit, restored at start; between them the queue lives in the block's shared memory.
  Array<QueueEntry> queue;  // where the platform has no shared memory for it
  Array<QueueEntry> savedQueue;
  uint32_t savedLength = 0;
  uint32_t savedCursor = 0;
  Array<RunAddresses> takenRuns;  // [run record]: of the runs that this block has taken in and not finished
  Array<uint32_t> nextRun;        // [run record]: the next run of the same collective that this block has taken in
  Array<uint32_t> lastRun;        // [collective]: the last one taken in
};

using EngineSubmissionProducer = SubmissionProducer<EngineSubmissionOrders>;
using EngineSubmissionConsumer = SubmissionConsumer<ReadMode::tail, EngineSubmissionOrders>;

/// Where it all lies. Copying this copies no memory, so a GPU gets the same record with its own addresses in it.
struct RankMemory {
  /// In order (NCCL's way), a collective takes part only while it executes; otherwise its buffers are shown to peers
  /// when the run comes in rather than when it is scheduled.
  DFCCL_HD bool publishesEarly() const { return policy.streams == 0; }

  const uint32_t rank;
  const RankLimits limits;
  const scheduling::SchedulePolicy policy;

  // The host's memory, also where the rest is a device's.
  Residency& residency;
  ControlRing& control;
  RankCounters& counters;
  SubmissionRing submissions{};
  CompletionOwnedSlots<> completions{};

  Atomic<uint32_t>
      wakePending{};             // a completion was posted for somebody who sleeps; whoever steps wakes him afterwards
  Array<RunRecord> runs{};       // [completion slot]
  Array<uint32_t> partsAtEnd{};  // [completion slot]: of the last run there; the leader's, see RunCount
  Array<CollectiveRecord> collectives{};  // [index]
  Array<TaskContext> contexts{};          // [task]
  Array<uint8_t> isActive{};              // [task]: some run of it is in its block's queue; its block's own
  Array<BlockMemory> blocks{};            // [grid]
  BlockFeed feed{};
  PendingMemory pending{};  // where the platform has streams, and so is
  WaitingMemory waiting{};
};

/// Entries of the feed for these limits: every run in flight and every control request fits, so the leader waits for a
/// slow block only when it would lap it.
constexpr uint32_t feedCapacity(const RankLimits& limits) {
  if (limits.feedEntries != 0) return limits.feedEntries;
  return std::bit_ceil(limits.completionSlots + ControlRing::kCapacity + 2);
}

}  // namespace dfccl

#pragma once
// Everything a rank's daemon reads and writes, in device memory: it survives the daemon's leaving. The host makes it,
// the blocks share it.
#include <bit>
#include <cstddef>
#include <cstdint>

#include "base/array.hpp"
#include "daemon/state/block_feed.hpp"
#include "daemon/state/counters.hpp"
#include "daemon/state/pending_runs.hpp"
#include "daemon/state/records.hpp"
#include "daemon/state/residency.hpp"
#include "daemon/state/trace_point.hpp"
#include "daemon/state/waiting_streams.hpp"
#include "queues/completion_owned_slots.hpp"
#include "queues/submission_consumer.hpp"
#include "queues/submission_producer.hpp"
#include "scheduling/scheduler.hpp"

namespace dfccl {

/// Fixed at start: nothing is allocated while a daemon may run.
struct RankLimits {
  uint32_t grid = 1;                // blocks of the daemon
  uint32_t submissionSlots = 4096;  // a power of two, <= 32768
  uint32_t completionSlots = 4096;  // runs in flight that any ids share
  uint32_t collectives = 4096;      // registered at the same time
  uint32_t tasks = 8192;            // program blocks of them, together
  uint32_t feedEntries = 0;         // of what the leader tells all blocks, a power of two; 0: see feedCapacity()
  bool ownPlaces = true;  // false, the control: runs are refused once the shared slots are taken (decision 27)
};

/// Slots that are made: beside those that all runs share, each id has one of its own, so that its first unfinished run
/// can always be in flight, whatever fills the others (decision 27). As many runs have records.
constexpr uint32_t slotsMade(const RankLimits& limits) {
  return std::bit_ceil(limits.completionSlots + limits.collectives);
}

/// A request of the host that is no run.
struct ControlRequest {
  enum Kind : uint32_t {
    abort,   // all blocks drop a collective
    forget,  // all blocks forget what they keep of a place, which another collective is given
    // Where the daemon's memory is a device's, which the host writes to through the daemon alone:
    copy,   // `bytes` from the host's memory to the device's
    clear,  // `bytes` of the device's
    show,   // `bytes` from the device's memory to the host's
  };
  Kind kind;
  uint32_t collective = 0;  // index
  uint32_t firstTask = 0;   // of the place
  uint32_t blockCount = 0;
  uint64_t to = 0;
  uint64_t from = 0;
  uint64_t bytes = 0;
};

/// Requests in the order in which they were made; those that were made before an entry are done before it. Written
/// under a lock of the host's, read by the leader.
struct ControlRing {
  static constexpr uint32_t kCapacity = 512;
  alignas(64) Atomic<uint64_t> tail;
  Atomic<uint64_t> head;
  alignas(64) Atomic<uint64_t> words[kCapacity][4];

  /// @pre There is room.
  void put(const ControlRequest& request, Order publish) {
    const uint64_t at = tail.load(order::relaxed);
    Atomic<uint64_t>(&word)[4] = words[at % kCapacity];
    word[0].store(uint64_t{request.kind} | uint64_t{request.collective} << 32, order::relaxed);
    word[1].store(
        isOfPlace(request.kind) ? uint64_t{request.firstTask} | uint64_t{request.blockCount} << 32 : request.to,
        order::relaxed);
    word[2].store(request.from, order::relaxed);
    word[3].store(request.bytes, order::relaxed);
    tail.store(at + 1, publish);
  }
  DFCCL_HD ControlRequest at(uint64_t position) const {
    const Atomic<uint64_t>(&word)[4] = words[position % kCapacity];
    const uint64_t first = word[0].load(order::relaxed), second = word[1].load(order::relaxed);
    ControlRequest request;
    request.kind = static_cast<ControlRequest::Kind>(static_cast<uint32_t>(first));
    request.collective = static_cast<uint32_t>(first >> 32);
    request.firstTask = static_cast<uint32_t>(second);
    request.blockCount = static_cast<uint32_t>(second >> 32);
    request.to = second;
    request.from = word[2].load(order::relaxed);
    request.bytes = word[3].load(order::relaxed);
    return request;
  }
  bool isFull() const { return tail.load(order::relaxed) - head.load(order::acquire) >= kCapacity; }

  /// What an entry says that is submitted now: a daemon that looks for requests less often than for entries must not
  /// begin a run whose id was aborted before.
  uint32_t flagsOfEntry() const {
    return tail.load(order::relaxed) != head.load(order::relaxed) ? kSqeAfterControl : 0;
  }

 private:
  static constexpr bool isOfPlace(ControlRequest::Kind kind) {
    return kind == ControlRequest::abort || kind == ControlRequest::forget;
  }
};

/// How far a collective is, posted now and then to the host's memory where it can't read the daemon's. Each word
/// vouches for itself: a count below 16 bits of the registration's number, so nothing of a former collective is
/// mistaken.
struct PostedProgress {
  static constexpr int kShift = 48;
  Atomic<uint64_t> submitted;
  Atomic<uint64_t> finished;
  Atomic<uint64_t> dropped;  // blocks that let go of it after an abort

  DFCCL_HD static constexpr uint64_t word(uint64_t count, uint32_t registration) {
    return (count & ((uint64_t{1} << kShift) - 1)) | uint64_t{registration & 0xffff} << kShift;
  }
  static uint64_t countOf(const Atomic<uint64_t>& posted, uint32_t registration) {
    const uint64_t word = posted.load(order::acquire);
    return word >> kShift == (registration & 0xffff) ? word & ((uint64_t{1} << kShift) - 1) : 0;
  }
  DFCCL_HD void post(const CollectiveRecord& record) {
    submitted.store(word(record.submittedRuns.load(order::relaxed), record.registrationNumber), order::relaxed);
    finished.store(word(record.finishedRuns.load(order::relaxed), record.registrationNumber), order::relaxed);
    dropped.store(word(record.blocksDropped.load(order::relaxed), record.registrationNumber), order::relaxed);
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
  Array<PostedProgress> posted{};  // [index], the host's memory: where it can't read `collectives`
};

/// Entries of the feed for these limits: all runs in the shared slots and every control request fit, so the leader
/// seldom waits for a slow block.
constexpr uint32_t feedCapacity(const RankLimits& limits) {
  if (limits.feedEntries != 0) return limits.feedEntries;
  return std::bit_ceil(limits.completionSlots + ControlRing::kCapacity + 2);
}

}  // namespace dfccl

#pragma once
// The daemon's platform on a GPU: the control thread decides, the workers move. Everything that differs from a CPU is a
// function here.
#include "block/block_shared.cuh"
#include "block/block_view.cuh"
#include "block/fences.cuh"
#include "daemon/loop/block_daemon.hpp"
#include "daemon/loop/leader.hpp"
#include "daemon/platform.hpp"
#include "daemon/rules.hpp"
#include "daemon/state/trace_point.hpp"
#include "device_feed.cuh"
#include "host_queue.cuh"
#include "team_moves.cuh"

namespace dfccl::gpu {

template <class RulesType = AllRules>
class CudaPlatform : public TeamMoves {
 public:
  using Rules = RulesType;
  using Submissions = StagedSubmissions;
  // A slice of any size uses it up: between two slices a block looks whether the stay is over.
  static constexpr int64_t kStepBudgetBytes = 64 << 10;
  static constexpr int kVisitsPerStep = 4;
  static constexpr uint32_t kContextSlots = kNearContexts;
  static constexpr uint32_t kRoundTurns = gpu::kRoundTurns;
  static constexpr uint32_t kStepsPerDecision = 16;
  // A small collective moves nothing on the other GPUs faster than they do it themselves.
  static constexpr bool kRunsTogether = false;
  static constexpr bool kCountsPerRun = false;
  static constexpr bool kHasRings = false;
  static constexpr bool kTriesAtOnce = true;
  static constexpr bool kSpreads = true;
  static constexpr bool kHasStreams = true;
  static constexpr uint64_t kTogetherBytes = 0;
  // Nothing that the caller wrote is published with a mailbox: it was complete before the host submitted.
  static constexpr Order kPublishOrder = order::relaxed;
  // An acquiring load empties the first-level cache, so a look is a relaxed one, and only what it finds is acquired.
  static constexpr Order kLook = order::relaxed;
  template <class Word>
  __device__ static void found(const Word& word) {
    word.load(order::acquire);
  }
  /// Nothing: what the workers read of anybody's buffers, they read past the first-level cache, and behind a barrier of
  /// the team. Whoever wrote it has seen it arrive before he said so.
  template <class Word>
  __device__ static void foundTurn(const Word&) {}
  /// What was written before a feed's entry that is no run, or before a run's collective was registered: none of it may
  /// come from this block's first-level cache.
  __device__ static void acquireEntry() { fenceDevice(); }
  __device__ static void releaseEntry() { fenceDevice(); }
  __device__ static uint32_t& partsAtEnd(const RankMemory&, uint32_t slot) {
    return blockShared().tables.partsAtEnd[slot];
  }
  using FeedLeader = DeviceFeedLeader;
  using FeedReader = DeviceFeedReader;

  __device__ static uint64_t nanos() {
    uint64_t nanos;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(nanos)::"memory");
    return nanos;
  }
  __device__ uint64_t now() const { return nanos(); }

  using BlockView = DeviceBlockView;
  using TaskPlaces = DeviceTaskPlaces;

  __device__ static uint64_t facts(const RankMemory&, uint32_t block) {
    return blockShared().staged.facts[block].load(order::relaxed);
  }
  __device__ static uint64_t controlTail(const RankMemory&) {
    return blockShared().staged.controlTail.load(order::relaxed);
  }

  __device__ static uint32_t arrivals(const RankMemory&) { return blockShared().staged.arrivals.load(order::relaxed); }
  /// What the stream did before it came is in this device's memory: the store that says so is behind a fence of the
  /// device's, and what the workers read of anybody's buffers, they read past the first-level cache.
  __device__ static uint32_t arrivedOn(const PendingMemory&, uint32_t line) {
    return blockShared().arrivedOn[line].load(order::relaxed);
  }
  __device__ static void awaitLines(const RankMemory&, uint32_t lines) {
    blockShared().staged.awaitedLines.store(lines, order::relaxed);
  }

  static constexpr bool kIsRemote = true;
  /// The workers copy; other blocks see it in device memory from here on.
  __device__ DFCCL_COLD static void carryOut(const RankMemory&, const ControlRequest& request) {
    blockShared().order.work = Work::request;
    blockShared().order.request = request;
    gpu::carryOut();
    fenceSystem();
  }
  __device__ static void forgetPlace(RankMemory&, uint32_t block, uint32_t collective) {
    BlockShared& shared = blockShared();
    shared.tables.isDropped[collective] = 0;
    if (block == 0) shared.tables.heads[collective].blockCount = 0;
    uint32_t& owner = shared.imageOwners[collective % kNearImages];
    if (owner == collective) owner = kNobodysImage;
  }

  __device__ static CollectiveHead& headOf(RankMemory& memory, uint32_t collective) {
    CollectiveHead& head = blockShared().tables.heads[collective];
    if (head.blockCount == 0) [[unlikely]]
      head = memory.collectives[collective];
    return head;
  }
  /// In device memory for the next stay.
  __device__ static void placeChanged(RankMemory& memory, uint32_t collective, const CollectiveHead& head) {
    memory.collectives[collective].firstBlock = head.firstBlock;
    memory.collectives[collective].wasAlone = head.wasAlone;
  }
  /// As the polling warp saw it a look or two ago: before the host can have answered a completion, it is counted.
  __device__ static uint64_t completionsPosted(const RankMemory&) {
    return blockShared().staged.completionsPosted.load(order::relaxed);
  }
  /// In device memory for the next stay.
  __device__ static void countSubmitted(RankMemory& memory, uint32_t collective, CollectiveHead& head) {
    const uint64_t runs = head.submittedRuns.load(order::relaxed) + 1;
    head.submittedRuns.store(runs, order::relaxed);
    memory.collectives[collective].submittedRuns.store(runs, order::relaxed);
  }
  /// An addition whose result nobody asks for is on its way at once; a load would be waited for.
  __device__ static void increment(Atomic<uint64_t, Scope::device>& counter) { counter.fetchAdd(1, order::relaxed); }

  /// The host makes an image once all members have registered.
  __device__ static bool isComplete(const CollectiveRecord& collective) {
    return __isShared(&collective) || collective.shared->isComplete(order::relaxed);
  }
  /// An abort comes to every rank through its control ring, so what this block has been told is enough.
  __device__ static bool isAborted(const RankMemory&, uint32_t, uint32_t collective) {
    return blockShared().tables.isDropped[collective] != 0;
  }

  template <class Condition>
  __device__ static bool poll(const Condition& condition) {
    for (int look = 0; looksAgain(look); ++look) {
      if (condition()) return true;
    }
    return false;
  }

  /// The workers know where the queue is. Until endRound() they are at it, and nothing else may be asked of them.
  __device__ static void beginRound(ContextSlots<CudaPlatform>& slots, const TaskQueue<CudaPlatform>&,
                                    const RoundPositions& positions) {
    BlockShared& shared = blockShared();
    shared.order.work = Work::round;
    shared.order.round = {&slots, positions};
    shared.round.isOver.store(0, order::relaxed);
    mark(TracePoint::moveOrdered, static_cast<uint64_t>(Work::round));
    meetAt<kBeginBarrier>();
  }
  __device__ static bool isRoundOver() { return blockShared().round.isOver.load(order::relaxed) != 0; }
  __device__ static const RoundTurn* endRound() {
    // A barrier's wait may begin behind a look at the clock, so this is for the trace.
    while (!isRoundOver()) {
    }
    meetAt<kEndBarrier>();
    mark(TracePoint::moveDone, static_cast<uint64_t>(Work::round));
    return blockShared().round.turns;
  }
  /// This member will not touch another's buffers in its run again: one fence for what it wrote there, then a message
  /// to everybody's own counter.
  __device__ static void finishAccess(const MeetingPlaces& places) {
    fenceSystem();
    for (uint32_t copy = 0; copy < places.copyCount; ++copy) {
      places.finishedAccessCopies[copy]->fetchAdd(1, order::relaxed);
    }
  }

  /// The one store to the host. The results lie in this GPU's memory, where only this GPU's later work reads them, or
  /// in a peer's that has acknowledged: device scope reaches them.
  __device__ static void postCompletion(RankMemory& memory, uint32_t slot, uint64_t cqe, bool isOrdered) {
    if (!isOrdered) fenceDevice();
    memory.completions.slots[slot].store(cqe, order::relaxed);
    mark(TracePoint::completionPosted, slot);
    // Streams that wait for it read the results on this GPU, so what has ordered them for the host has for these too.
    memory.waiting.completed[static_cast<uint32_t>(cqe)].fetchAdd(1, order::relaxed);
    memory.counters.completionsPosted.value.fetchAdd(1, order::relaxed);
  }

  __device__ static void acknowledgeAbort(RankMemory&, uint32_t, CollectiveRecord& collective) {
    blockShared().tables.isDropped[collective.index] = 1;
    collective.blocksDropped.fetchAdd(1, order::acqRel);
  }

  /// Three reads of the host's memory that are under way together; all workers look at the counts only where one may
  /// have been raised.
  __device__ DFCCL_COLD static bool isAnybodyWaiting(const RankMemory& memory) {
    const WaitingMemory& waiting = memory.waiting;
    const uint64_t raised = waiting.device->raised.load(order::relaxed);
    const uint64_t intents = waiting.device->intents.load(order::relaxed);
    const uint32_t mustLeave = waiting.mustLeave->load(order::relaxed);
    if (mustLeave != 0) return false;
    if (blockShared().launch.gate->intents.isPatient(intents != 0, nanos())) return true;
    if (waiting.vainLook->holds(raised, blockShared().launch.awaitedTable)) return false;
    fenceSystem();  // what was awaited when it was counted
    TeamOrder& order = blockShared().order;
    order.work = Work::lookAtWaits;
    order.isUnanimous = 1;
    gpu::carryOut();
    if (*static_cast<volatile uint32_t*>(&order.isUnanimous) == 0) return true;
    *waiting.vainLook = {raised, blockShared().launch.awaitedTable};
    return false;
  }
  /// In one order with the look that follows: the host counts a wait and then looks here.
  __device__ static void willLeave(const RankMemory&) {
    blockShared().launch.report->leaving.store(1, order::relaxed);
    __threadfence_system();
  }
  /// The watchdogs of all blocks begin anew.
  __device__ static void stayedOn(const RankMemory&, uint64_t now) {
    blockShared().launch.report->leaving.store(0, order::relaxed);
    blockShared().launch.gate->stayedOnAt.store(now, order::relaxed);
  }

  __device__ static void blockLeft(RankMemory& memory, uint32_t) {
    mark(TracePoint::left, nanos());
    blockShared().order.work = Work::saveTables;
    gpu::carryOut();
    fenceDevice();
    DaemonGate& gate = *blockShared().launch.gate;
    if (gate.blocksLeft.fetchAdd(1, order::acqRel) + 1 < memory.limits.grid) return;
    gate.blocksLeft.store(0, order::relaxed);
    blockShared().order.work = Work::postProgress;
    gpu::carryOut();
    StayReport& report = *blockShared().launch.report;
    report.submissionsTaken.store(memory.counters.submissionsTaken.read(), order::relaxed);
    report.completionsPosted.store(memory.counters.completionsPosted.read(), order::relaxed);
    report.hasMoreArrivals.store(memory.pending.hasArrivals(), order::relaxed);
    __threadfence_system();
    memory.residency.leave();
  }
};
static_assert(Platform<CudaPlatform<>>);

}  // namespace dfccl::gpu

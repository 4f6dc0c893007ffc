#pragma once
// The daemon's platform on a CPU: a block is whoever holds its lock, so block-wide sync and vote are nothing.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/reduce_copy.hpp"
#include "cpu/cpu_rank_memory.hpp"
#include "daemon/framing/framed_slots.hpp"
#include "daemon/movers/interpreter.hpp"
#include "daemon/movers/prepared_moves.hpp"
#include "daemon/platform.hpp"
#include "daemon/rules.hpp"
#include "daemon/state/context_slots.hpp"
#include "daemon/state/rank_memory.hpp"
#include "daemon/state/trace_point.hpp"
#include "os/tick_clock.hpp"
#include "reduce_copy/result_stores.hpp"

namespace dfccl {

/// One for each thread that steps.
template <class RulesType = AllRules>
class CpuPlatform : public FramedSlots {
 public:
  using Rules = RulesType;
  // Measured: slices of 64-128 KB keep a step near 10 us and cost nothing in bandwidth.
  static constexpr int64_t kStepBudgetBytes = 256 << 10;
  static constexpr int kVisitsPerStep = 256;
  static constexpr uint32_t kContextSlots = 8;
  // Steps between two looks at the clock, at most: each costs as much as a whole 8-byte collective.
  static constexpr uint32_t kStepsPerDecision = 16;

  static constexpr bool kRunsTogether = true;
  static constexpr bool kCountsPerRun = true;
  static constexpr bool kHasRings = true;
  // What comes alone goes through the queue all the same: that is cheap here.
  static constexpr bool kTriesAtOnce = false;
  using TaskPlaces = OwnTaskPlaces<kContextSlots, 1>;
  static constexpr uint32_t kRoundTurns = 0;
  // Any thread steps any block, so nothing is gained by giving a run to another one, and in one block runs keep their
  // order.
  static constexpr bool kSpreads = false;
  // A CPU has no streams that a run could wait for.
  static constexpr bool kHasStreams = false;
  // Up to this much moved by all ranks together, whoever comes last does it for everybody.
  static constexpr uint64_t kTogetherBytes = 64 << 10;

  uint64_t now() const { return readTicks(); }
  static void mark(TracePoint, uint64_t) {}

  // The order of a look at what may not be there yet; found() follows one that finds it.
  static constexpr Order kLook = order::acquire;
  template <class Word>
  static void found(const Word&) {}
  /// ... and this one that it is a run's turn, or where a peer's buffers are.
  template <class Word>
  static void foundTurn(const Word&) {}
  /// What the leader wrote before an entry came with the entry.
  static void acquireEntry() {}
  static void releaseEntry() {}
  static uint32_t& partsAtEnd(const RankMemory& memory, uint32_t slot) { return memory.partsAtEnd[slot]; }
  struct FeedLeader : BroadcastLeader<FeedEntry> {
    explicit FeedLeader(RankMemory& memory) : BroadcastLeader(memory.feed) {}
  };
  struct FeedReader : BroadcastReader<FeedEntry> {
    FeedReader(RankMemory& memory, uint32_t block) : BroadcastReader(memory.feed, feedReader(block)) {}
  };
  // Publishing a mailbox also publishes what the caller wrote into the buffers.
  static constexpr Order kPublishOrder = order::release;

  struct Submissions : EngineSubmissionConsumer {
    explicit Submissions(RankMemory& memory) : EngineSubmissionConsumer(memory.submissions) {}
  };

  /// Where a block finds its own things.
  class BlockView {
   public:
    BlockView(RankMemory& memory, uint32_t index)
        : memory_(memory), block_(memory.blocks[index]), index_(index), queue_(block_.queue) {}

    RankMemory& rank() const { return memory_; }
    BlockMemory& block() const { return block_; }
    BlockCounters& counters() const { return block_.counters; }
    QueueEntry& queued(uint32_t position) const { return queue_[position]; }
    size_t queueCapacity() const { return queue_.size(); }
    /// Moves the entries behind `position` one place forward.
    void closeGap(uint32_t position, uint32_t length) {
      for (uint32_t i = position; i + 1 < length; ++i) queue_[i] = queue_[i + 1];
    }
    void growQueue() { queue_ = static_cast<CpuRankMemory&>(memory_).growTaskQueue(index_); }
    uint8_t& isActive(uint32_t task) const { return memory_.isActive[task]; }
    uint32_t& nextRun(uint32_t slot) const { return block_.nextRun[slot]; }
    uint32_t& lastRun(uint32_t collective) const { return block_.lastRun[collective]; }

   private:
    RankMemory& memory_;
    BlockMemory& block_;
    const uint32_t index_;
    Array<QueueEntry> queue_;
  };

  static uint64_t facts(const RankMemory& memory, uint32_t block) {
    return memory.blocks[block].facts.load(order::relaxed);
  }
  static uint64_t controlTail(const RankMemory& memory) { return memory.control.tail.load(order::acquire); }

  // Where the platform has streams: the host is told that the daemon is about to leave; after stayedOn() it isn't any
  // more, and the stay is as if it had only begun.
  static void willLeave(const RankMemory&) {}
  static bool isAnybodyWaiting(const RankMemory&) { return false; }
  static void stayedOn(const RankMemory&, uint64_t) {}
  // ... and of lines on which streams come to their runs (pending_runs.hpp): a count that changes when something may
  // have come, as far as known; how far a stream is; on which lines somebody is awaited.
  static uint32_t arrivals(const RankMemory&) { return 0; }
  static uint32_t arrivedOn(const PendingMemory& pending, uint32_t line) {
    return pending.arrived[line].load(order::acquire);
  }
  static void awaitLines(const RankMemory&, uint32_t) {}

  // Whether the host writes to this memory through the daemon alone.
  static constexpr bool kIsRemote = false;
  /// What a platform keeps of a place beside its context.
  static void forgetPlace(RankMemory&, uint32_t, uint32_t) {}

  static CollectiveHead& headOf(RankMemory& memory, uint32_t collective) { return memory.collectives[collective]; }
  static void placeChanged(RankMemory&, uint32_t, const CollectiveHead&) {}
  static uint64_t completionsPosted(const RankMemory& memory) {
    return memory.counters.completionsPosted.value.load(order::acquire);
  }
  static void countSubmitted(RankMemory&, uint32_t, CollectiveHead& head) { increment(head.submittedRuns); }
  /// Of a counter that this block alone writes; its next holder and the host read it.
  static void increment(Atomic<uint64_t, Scope::device>& counter) {
    counter.store(counter.load(order::relaxed) + 1, order::release);
  }
  static bool isComplete(const CollectiveRecord& collective) {
    return collective.shared->isComplete() && collective.isHeld.load(order::acquire) == 0;
  }
  static bool isAborted(const RankMemory& memory, uint32_t, uint32_t collective) {
    return memory.collectives[collective].shared->isPoisoned();
  }

  /// Looks once: another thread may need this core to make the condition true.
  template <class Condition>
  static bool poll(const Condition& condition) {
    return condition();
  }

  MoveOperands& operands() { return operands_; }

  /// All memory is equally near.
  static const CollectiveRecord* nearView(uint32_t, const CollectiveRecord& record, const CollectiveRecord*, bool) {
    return &record;
  }

  /// @param known members whose mailboxes carry the run: those before this number. @return as many as do now.
  static uint32_t lookForMailboxes(const MeetingPlaces& places, uint64_t run, uint32_t known) {
    while (known < places.members && places.mailboxes[known].carries(run)) ++known;
    return known;
  }

  void reduceCopy(const CollectiveRecord& collective, ReduceCopyArgs args, const RunAddresses& run) {
    if (args.workingSetBytes == 0) args.workingSetBytes = collective.workingSetBytes;
    const size_t bytes = args.count * sizeOf(collective.type);
    Stores stores = Stores::byWorkingSet;
    // Measured: where something is reduced, what is saved is spent on the way through the buffer. And in place the
    // lines have just been read.
    if (args.sourceCount == 1 && bytes >= ResultStores::kLeastBytes && collective.stores != nullptr &&
        run.sendAddress != run.recvAddress) {
      stores = collective.stores->of(run.run, run.recvAddress, args.workingSetBytes);
      if (stores == Stores::around && isInSeries_) {
        stores = Stores::aroundUnordered;
        isUnordered_ = true;
      }
    }
    dfccl::reduceCopy(collective.type, collective.op, args, stores);
  }

  /// What is read again soon.
  void reduceCopyNear(const CollectiveRecord& collective, const ReduceCopyArgs& args) {
    dfccl::reduceCopy(collective.type, collective.op, args, Stores::cached);
  }

  /// Between these nobody is told of any result: so what orders them is done once.
  void beginSeries() { isInSeries_ = true; }
  void endSeries() {
    if (isUnordered_) orderStores();
    isInSeries_ = isUnordered_ = false;
  }

  void movePrepared(const CollectiveRecord& view, const RunAddresses& run, const PreparedMove& move) {
    dfccl::movePrepared(*this, view, run, move);
  }
  void copyPrepared(const CollectiveRecord& view, const RunAddresses& run, const PreparedCopies& copies) {
    dfccl::copyPrepared(*this, view, run, copies);
  }

  /// Sends this member's part unless that was done, and reduces once all parts are there. @return whether they are.
  bool exchange(const Exchange& e) {
    const size_t bytes = e.count * sizeOf(e.type);
    for (uint32_t m = 0; !e.isSent && m < e.members; ++m) {
      if (m != e.member) packSlot<Ll>(e.outgoing(m), static_cast<const uint8_t*>(e.own), bytes, e.run);
    }
    if (e.isSendOnly) return false;
    bool isThere = true;
    for (uint32_t m = 0; m < e.members; ++m) {
      isThere &= m == e.member || hasSlotArrived<Ll>(e.incoming(m), bytes, e.run);
    }
    if (Rules::voteBeforeWrite && !isThere) return false;
    const size_t stride = (bytes + 63) / 64 * 64;
    uint8_t* const parts = receiveStaging(e.members * stride);
    for (uint32_t m = 0; m < e.members; ++m) {
      uint8_t* const part = parts + m * stride;
      if (m != e.member) unpackSlot<Ll>(part, e.incoming(m), bytes);
      operands_.sources[m] = m == e.member ? e.own : part;
      operands_.scales[m] = e.scales[m];
    }
    operands_.destinations[0] = e.result;
    ReduceCopyArgs args{operands_.sources, static_cast<int>(e.members), operands_.destinations, 1, e.count};
    if (e.op == ReduceOp::scaledSum) args.scales = operands_.scales;
    args.divisor = e.divisor;
    dfccl::reduceCopy(e.type, e.op, args);
    return isThere;
  }

  void beginExchange(const Exchange& e) { begun_ = &e; }
  bool endExchange() { return exchange(*begun_); }

  uint8_t* receiveStaging(size_t bytes) { return grown(receiveStaging_, bytes); }
  uint8_t* sendStaging(size_t bytes) { return grown(sendStaging_, bytes); }

  /// This member will not touch another's buffers in its run again.
  static void finishAccess(const MeetingPlaces& places) { places.finishedAccessCopies[0]->fetchAdd(1, order::acqRel); }

  /// The store that tells the host, and the look at who sleeps. In one order with the sleeper's store and look, so that
  /// one of them sees the other.
  static void postCompletion(RankMemory& memory, uint32_t slot, uint64_t cqe, bool) {
    memory.completions.slots[slot].store(cqe, order::release);
    memory.counters.completionsPosted.value.fetchAdd(1, order::seqCst);
    if (memory.submissions.header->waiters.load(order::seqCst) != 0) memory.wakePending.store(1, order::release);
  }

  /// One block has let go of an aborted collective, the record itself too: when all have, the rank may give it another.
  static void acknowledgeAbort(RankMemory&, uint32_t, CollectiveRecord& collective) {
    collective.blocksDropped.fetchAdd(1, order::acqRel);
  }

  static void blockLeft(RankMemory& memory, uint32_t) {
    if (memory.residency.blocksLeft.fetchAdd(1, order::acqRel) + 1 < memory.limits.grid) return;
    memory.residency.blocksLeft.store(0, order::relaxed);
    memory.residency.leave();
  }

 private:
  static uint8_t* grown(std::vector<uint8_t>& buffer, size_t bytes) {
    if (buffer.size() < bytes) buffer.resize(bytes);
    return buffer.data();
  }
  MoveOperands operands_;
  const Exchange* begun_ = nullptr;
  bool isInSeries_ = false, isUnordered_ = false;
  std::vector<uint8_t> receiveStaging_, sendStaging_;
};
static_assert(Platform<CpuPlatform<>>);

}  // namespace dfccl

#pragma once
// The smallest platform that there can be, written from daemon/platform.hpp alone: one thread, memory that is equally
// near, no streams, no rounds, nothing tried at once. Whoever brings the daemon to another machine may begin here.
#include <cstdlib>
#include <vector>

#include "base/reduce_copy.hpp"
#include "daemon/framing/framed_slots.hpp"
#include "daemon/loop/leader.hpp"
#include "daemon/platform.hpp"
#include "test_platform.hpp"  // Surroundings: the clock that the explorer sets

namespace dfccl::test {

template <class RulesType>
class ToyPlatform : public FramedSlots {
 public:
  using Rules = RulesType;
  static constexpr int64_t kStepBudgetBytes = 64;
  static constexpr int kVisitsPerStep = 1;
  static constexpr uint32_t kStepsPerDecision = 1;
  static constexpr uint32_t kContextSlots = 2;
  static constexpr uint64_t kTogetherBytes = 0;
  static constexpr bool kRunsTogether = false;
  static constexpr bool kCountsPerRun = false;
  static constexpr bool kHasRings = false;
  static constexpr bool kTriesAtOnce = false;
  static constexpr uint32_t kRoundTurns = 0;
  static constexpr bool kSpreads = false;
  static constexpr bool kHasStreams = false;
  static constexpr bool kIsRemote = false;

  // One thread sees what it wrote.
  static constexpr Order kLook = order::relaxed, kPublishOrder = order::relaxed;
  template <class Word>
  static void found(const Word&) {}
  template <class Word>
  static void foundTurn(const Word&) {}
  static void acquireEntry() {}
  static void releaseEntry() {}

  struct BlockView {
    BlockView(RankMemory& rank, uint32_t index) : memory(rank), own(rank.blocks[index]) {}
    RankMemory& rank() const { return memory; }
    BlockMemory& block() const { return own; }
    BlockCounters& counters() const { return own.counters; }
    QueueEntry& queued(uint32_t position) const { return own.queue[position]; }
    size_t queueCapacity() const { return own.queue.size(); }
    void closeGap(uint32_t position, uint32_t length) const {
      for (uint32_t i = position; i + 1 < length; ++i) queued(i) = queued(i + 1);
    }
    static void growQueue() { std::abort(); }  // in order only
    uint8_t& isActive(uint32_t task) const { return memory.isActive[task]; }
    uint32_t& nextRun(uint32_t slot) const { return own.nextRun[slot]; }
    uint32_t& lastRun(uint32_t collective) const { return own.lastRun[collective]; }
    RankMemory& memory;
    BlockMemory& own;
  };
  using TaskPlaces = OwnTaskPlaces<kContextSlots, 1>;

  struct Submissions : EngineSubmissionConsumer {
    explicit Submissions(RankMemory& memory) : EngineSubmissionConsumer(memory.submissions) {}
  };
  struct FeedLeader : BroadcastLeader<FeedEntry> {
    explicit FeedLeader(RankMemory& memory) : BroadcastLeader(memory.feed) {}
  };
  struct FeedReader : BroadcastReader<FeedEntry> {
    FeedReader(RankMemory& memory, uint32_t block) : BroadcastReader(memory.feed, feedReader(block)) {}
  };

  uint64_t now() const { return Surroundings::now; }
  static void mark(TracePoint, uint64_t) {}
  static uint64_t facts(const RankMemory& memory, uint32_t block) {
    return memory.blocks[block].facts.load(order::relaxed);
  }
  static uint64_t controlTail(const RankMemory& memory) { return memory.control.tail.load(order::relaxed); }
  static CollectiveHead& headOf(RankMemory& memory, uint32_t collective) { return memory.collectives[collective]; }
  static void placeChanged(RankMemory&, uint32_t, const CollectiveHead&) {}
  static void countSubmitted(RankMemory&, uint32_t, CollectiveHead& head) { increment(head.submittedRuns); }
  static uint64_t completionsPosted(const RankMemory& memory) { return memory.counters.completionsPosted.read(); }
  static uint32_t& partsAtEnd(const RankMemory& memory, uint32_t slot) { return memory.partsAtEnd[slot]; }
  static void increment(Atomic<uint64_t, Scope::device>& counter) { counter.fetchAdd(1, order::relaxed); }
  static bool isComplete(const CollectiveRecord& collective) { return collective.shared->isComplete(); }
  static bool isAborted(const RankMemory& memory, uint32_t, uint32_t collective) {
    return memory.collectives[collective].shared->isPoisoned();
  }
  static void acknowledgeAbort(RankMemory&, uint32_t, CollectiveRecord& collective) {
    collective.blocksDropped.fetchAdd(1, order::relaxed);
  }
  static void forgetPlace(RankMemory&, uint32_t, uint32_t) {}

  static const CollectiveRecord* nearView(uint32_t, const CollectiveRecord& record, const CollectiveRecord*, bool) {
    return &record;
  }
  static uint32_t lookForMailboxes(const MeetingPlaces& places, uint64_t run, uint32_t known) {
    while (known < places.members && places.mailboxes[known].carries(run)) ++known;
    return known;
  }
  template <class Condition>
  static bool poll(const Condition& condition) {
    return condition();
  }
  static void finishAccess(const MeetingPlaces& places) { places.finishedAccessCopies[0]->fetchAdd(1, order::relaxed); }

  MoveOperands& operands() { return operands_; }
  static void reduceCopy(const CollectiveRecord& collective, const ReduceCopyArgs& args, const RunAddresses&) {
    dfccl::reduceCopy(collective.type, collective.op, args, Stores::byWorkingSet);
  }
  static void beginSeries() {}
  static void endSeries() {}
  void movePrepared(const CollectiveRecord& view, const RunAddresses& run, const PreparedMove& move) {
    dfccl::movePrepared(*this, view, run, move);
  }
  void copyPrepared(const CollectiveRecord& view, const RunAddresses& run, const PreparedCopies& copies) {
    dfccl::copyPrepared(*this, view, run, copies);
  }
  uint8_t* receiveStaging(size_t bytes) { return grown(received_, bytes); }
  uint8_t* sendStaging(size_t bytes) { return grown(sent_, bytes); }

  bool exchange(const Exchange& e) {
    const size_t bytes = e.count * sizeOf(e.type), stride = (bytes + 63) / 64 * 64;
    bool isThere = !e.isSendOnly;
    for (uint32_t m = 0; m < e.members; ++m) {
      if (m == e.member) continue;
      if (!e.isSent) packSlot<Ll>(e.outgoing(m), static_cast<const uint8_t*>(e.own), bytes, e.run);
      isThere = isThere && hasSlotArrived<Ll>(e.incoming(m), bytes, e.run);
    }
    if (!isThere) return false;
    uint8_t* const parts = receiveStaging(e.members * stride);
    for (uint32_t m = 0; m < e.members; ++m) {
      if (m != e.member) unpackSlot<Ll>(parts + m * stride, e.incoming(m), bytes);
      operands_.sources[m] = m == e.member ? e.own : parts + m * stride;
      operands_.scales[m] = e.scales[m];
    }
    operands_.destinations[0] = e.result;
    ReduceCopyArgs args{operands_.sources, static_cast<int>(e.members), operands_.destinations, 1, e.count};
    if (e.op == ReduceOp::scaledSum) args.scales = operands_.scales;
    args.divisor = e.divisor;
    dfccl::reduceCopy(e.type, e.op, args);
    return true;
  }
  void beginExchange(const Exchange& e) { begun_ = &e; }
  bool endExchange() { return exchange(*begun_); }

  static void postCompletion(RankMemory& memory, uint32_t slot, uint64_t cqe, bool) {
    memory.completions.slots[slot].store(cqe, order::relaxed);
    memory.counters.completionsPosted.value.fetchAdd(1, order::relaxed);
  }
  static void blockLeft(RankMemory& memory, uint32_t) {
    if (memory.residency.blocksLeft.fetchAdd(1, order::relaxed) + 1 < memory.limits.grid) return;
    memory.residency.blocksLeft.store(0, order::relaxed);
    memory.residency.leave();
  }

  static void willLeave(const RankMemory&) {}
  static bool isAnybodyWaiting(const RankMemory&) { return false; }
  static void stayedOn(const RankMemory&, uint64_t) {}
  static uint32_t arrivals(const RankMemory&) { return 0; }
  static uint32_t arrivedOn(const PendingMemory& pending, uint32_t line) {
    return pending.arrived[line].load(order::relaxed);
  }
  static void awaitLines(const RankMemory&, uint32_t) {}

 private:
  static uint8_t* grown(std::vector<uint8_t>& buffer, size_t bytes) {
    if (buffer.size() < bytes) buffer.resize(bytes);
    return buffer.data();
  }
  MoveOperands operands_;
  const Exchange* begun_ = nullptr;
  std::vector<uint8_t> received_, sent_;
};
static_assert(Platform<ToyPlatform<AllRules>>);

}  // namespace dfccl::test

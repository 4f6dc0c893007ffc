#pragma once
// The daemon's platform on a CPU: a block is whoever holds its lock, so block-wide sync and vote are nothing.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "cpu/cpu_rank_memory.hpp"
#include "cpu/tick_clock.hpp"
#include "dfccl/daemon/connector.hpp"
#include "dfccl/daemon/interpreter.hpp"
#include "dfccl/daemon/rank_memory.hpp"
#include "dfccl/daemon/rules.hpp"
#include "dfccl/reduce_copy.hpp"

namespace dfccl {

/// One for each thread that steps.
template <class RulesType = AllRules>
class CpuPlatform {
 public:
  using Rules = RulesType;
  // Measured: slices of 64-128 KB keep a step near 10 us and cost nothing in bandwidth.
  static constexpr int64_t kStepBudgetBytes = 256 << 10;
  static constexpr int kVisitsPerStep = 256;
  // Steps between two looks at the clock, at most: each costs as much as a whole 8-byte collective.
  static constexpr uint32_t kStepsPerDecision = 16;

  static constexpr bool kRunsTogether = true;
  // Up to this much moved by all ranks together, whoever comes last does it for everybody.
  static constexpr uint64_t kTogetherBytes = 64 << 10;

  uint64_t now() const { return readTicks(); }

  // The order of a look at what may not be there yet; found() follows one that finds it.
  static constexpr Order kLook = order::acquire;
  template <class Word>
  static void found(const Word&) {}
  // Of a store that only this block's next holder and the host look for.
  static constexpr Order kOwnOrder = order::release;
  using FeedOrders = BroadcastOrders;
  // Publishing a mailbox also publishes what the caller wrote into the buffers.
  static constexpr Order kPublishOrder = order::release;

  struct Submissions : EngineSubmissionConsumer {
    explicit Submissions(RankMemory& memory) : EngineSubmissionConsumer(memory.submissions) {}
  };

  static BlockCounters& counters(RankMemory& memory, uint32_t block) { return memory.blocks[block].counters; }
  static Array<QueueEntry> taskQueue(RankMemory& memory, uint32_t block) { return memory.blocks[block].queue; }
  static Array<QueueEntry> growTaskQueue(RankMemory& memory, uint32_t block) {
    return static_cast<CpuRankMemory&>(memory).growTaskQueue(block);
  }
  static uint64_t facts(const RankMemory& memory, uint32_t block) {
    return memory.blocks[block].facts.load(order::relaxed);
  }
  static uint64_t controlTail(const RankMemory& memory) { return memory.control.tail.load(order::acquire); }

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

  static void reduceCopy(DataType type, ReduceOp op, ReduceCopyArgs args, uint64_t workingSetBytes) {
    args.workingSetBytes = workingSetBytes;
    dfccl::reduceCopy(type, op, args);
  }

  static bool hasArrived(Protocol protocol, const Connector& from, size_t bytes) {
    const uint64_t position = from.receivePosition();
    return protocol == Protocol::ll ? ll::hasArrived(from.slotAt(position), bytes, position)
                                    : ll128::hasArrived(from.slotAt(position), bytes, position);
  }
  static void unpack(Protocol protocol, uint8_t* payload, uint8_t* slot, size_t bytes) {
    protocol == Protocol::ll ? ll::unpack(payload, slot, bytes) : ll128::unpack(payload, slot, bytes);
  }
  static void pack(Protocol protocol, const Connector& to, const uint8_t* payload, size_t bytes) {
    const uint64_t position = to.sendPosition();
    uint8_t* slot = to.slotAt(position);
    if (protocol == Protocol::ll) {
      ll::pack(slot, payload, bytes, position, to.slotBytes, ll::mustFill(position, to.slotCount));
    } else {
      ll128::pack(slot, payload, bytes, position);
    }
  }

  uint8_t* receiveStaging(size_t bytes) { return grown(receiveStaging_, bytes); }
  uint8_t* sendStaging(size_t bytes) { return grown(sendStaging_, bytes); }

  /// This member will not touch another's buffers in its run again.
  static void finishAccess(const MeetingPlaces& places) { places.finishedAccessCopies[0]->fetchAdd(1, order::acqRel); }

  /// The store that tells the host, and the look at who sleeps. In one order with the sleeper's store and look, so that
  /// one of them sees the other.
  static void postCompletion(RankMemory& memory, uint32_t slot, uint64_t cqe) {
    memory.completions.slots[slot].store(cqe, order::release);
    memory.counters.completionsPosted.value.fetchAdd(1, order::seqCst);
    if (memory.submissions.header->waiters.load(order::seqCst) != 0) memory.wakePending.store(1, order::release);
  }

  /// One block has let go of an aborted collective; the last one of the rank tells the peers.
  static void acknowledgeAbort(RankMemory& memory, CollectiveRecord& collective) {
    if (collective.blocksDropped.fetchAdd(1, order::acqRel) + 1 == memory.limits.grid) {
      collective.shared->abortAcknowledged.fetchAdd(1, order::acqRel);
    }
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
  std::vector<uint8_t> receiveStaging_, sendStaging_;
};

}  // namespace dfccl

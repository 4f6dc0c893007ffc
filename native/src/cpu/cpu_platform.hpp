#pragma once
// The daemon's platform on a CPU: a block is whoever holds its lock, so block-wide sync and vote are nothing.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "cpu/tick_clock.hpp"
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

  // Up to this much moved by all ranks together, whoever comes last does it for everybody.
  static constexpr uint64_t kTogetherBytes = 64 << 10;

  uint64_t now() const { return readTicks(); }

  static void reduceCopy(DataType type, ReduceOp op, ReduceCopyArgs args, uint64_t workingSetBytes) {
    args.workingSetBytes = workingSetBytes;
    dfccl::reduceCopy(type, op, args);
  }

  uint8_t* receiveStaging(size_t bytes) { return grown(receiveStaging_, bytes); }
  uint8_t* sendStaging(size_t bytes) { return grown(sendStaging_, bytes); }

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

  static void blockLeft(RankMemory& memory) {
    if (memory.residency.blocksLeft.fetchAdd(1, order::acqRel) + 1 < memory.limits.grid) return;
    memory.residency.blocksLeft.store(0, order::relaxed);
    memory.residency.leave();
  }

 private:
  static uint8_t* grown(std::vector<uint8_t>& buffer, size_t bytes) {
    if (buffer.size() < bytes) buffer.resize(bytes);
    return buffer.data();
  }
  std::vector<uint8_t> receiveStaging_, sendStaging_;
};

}  // namespace dfccl

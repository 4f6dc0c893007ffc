#pragma once
// The CPU platform with every slice made a preemption point, a clock that the test sets, and an eye on what is touched.
#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cpu/cpu_platform.hpp"
#include "daemon/movers/run_with_count.hpp"
#include "daemon/state/named_mailboxes.hpp"
#include "daemon/tasks/turn_round.hpp"
#include "near_place.hpp"
#include "user_memory.hpp"

namespace dfccl::test {

/// What all platforms of a run look at. One run at a time, in one thread.
struct Surroundings {
  static inline uint64_t now = 0;
  static inline int64_t stepBudgetBytes = 0;
  static inline uint64_t togetherBytes = 0;
  static inline const UserMemory* memory = nullptr;
  // As on a GPU: a leader that looks for requests seldom, and has seen so many of them; and blocks that know what they
  // were told.
  static inline std::optional<uint64_t> seenControl;
  static inline std::map<const RankMemory*, bool> isLeaving;  // as a daemon has told its host
  static inline uint32_t looks = 0;
  static inline std::vector<int>* moves = nullptr;  // if anybody wants them: sources of each move, in their order
  static inline std::string violation;              // the first thing that the library must not have done
};

/// Lets all platforms look at `memory` as long as this lives.
class MemoryWatch {
 public:
  explicit MemoryWatch(const UserMemory& memory) : memory_(memory) { Surroundings::memory = &memory; }
  ~MemoryWatch() {
    if (Surroundings::memory == &memory_) Surroundings::memory = nullptr;
  }
  MemoryWatch(const MemoryWatch&) = delete;
  MemoryWatch& operator=(const MemoryWatch&) = delete;

 private:
  const UserMemory& memory_;
};

template <class RulesType>
class TestPlatform : public CpuPlatform<RulesType> {
 public:
  static constexpr int kVisitsPerStep = 1;
  static constexpr uint32_t kStepsPerDecision = 1;
  static constexpr bool kTriesAtOnce = true;
  using TaskPlaces = OwnTaskPlaces<CpuPlatform<RulesType>::kContextSlots, CpuPlatform<RulesType>::kContextSlots>;
  static constexpr uint32_t kRoundTurns = 3;
  static constexpr bool kSpreads = true;
  static constexpr bool kHasStreams = true;
  static inline int64_t& kStepBudgetBytes = Surroundings::stepBudgetBytes;
  static inline uint64_t& kTogetherBytes = Surroundings::togetherBytes;

  uint64_t now() const { return Surroundings::now; }

  static uint32_t arrivals(const RankMemory&) { return ++Surroundings::looks; }
  static bool hasArrivals(const RankMemory& memory) { return memory.pending.hasArrivals(); }

  static uint64_t controlTail(const RankMemory& memory) {
    return Surroundings::seenControl ? *Surroundings::seenControl : CpuPlatform<RulesType>::controlTail(memory);
  }

  static bool isAborted(const RankMemory& memory, uint32_t block, uint32_t collective) {
    return Surroundings::seenControl ? memory.collectives[collective].blocksDropped.load(order::acquire) != 0
                                     : CpuPlatform<RulesType>::isAborted(memory, block, collective);
  }

  static const CollectiveRecord* nearView(uint32_t, const CollectiveRecord& record, const CollectiveRecord*, bool) {
    if (isBesideRound) Surroundings::violation = "the engine asks something of workers that are at a round";
    return NearPlace::bring(record);
  }

  static uint32_t lookForMailboxes(const MeetingPlaces& places, uint64_t run, uint32_t known) {
    if (places.windows != nullptr) return NamedMailboxes::look(places, run, known, order::acquire, true);
    return CpuPlatform<RulesType>::lookForMailboxes(places, run, known);
  }

  void reduceCopy(const CollectiveRecord& collective, const ReduceCopyArgs& args, const RunAddresses& run) {
    const size_t bytes = args.count * sizeOf(collective.type);
    for (int i = 0; i < args.sourceCount; ++i) {
      if (!mayTouch(args.sources[i], bytes, "reads")) return;
    }
    for (int i = 0; i < args.destinationCount; ++i) {
      if (!mayTouch(args.destinations[i], bytes, "writes")) return;
    }
    if (Surroundings::moves != nullptr) Surroundings::moves->push_back(args.sourceCount);
    CpuPlatform<RulesType>::reduceCopy(collective, args, run);
  }

  void reduceCopyNear(const CollectiveRecord& collective, const ReduceCopyArgs& args) {
    reduceCopy(collective, args, RunAddresses{});
  }

  static bool isAnybodyWaiting(const RankMemory& memory) { return memory.waiting.isAnybodyWaiting(); }
  static void willLeave(const RankMemory& memory) { Surroundings::isLeaving[&memory] = true; }
  static void stayedOn(const RankMemory& memory, uint64_t) { Surroundings::isLeaving[&memory] = false; }

  static void postCompletion(RankMemory& memory, uint32_t slot, uint64_t cqe, bool isOrdered) {
    memory.waiting.completed[static_cast<uint32_t>(cqe)].fetchAdd(1, order::relaxed);
    CpuPlatform<RulesType>::postCompletion(memory, slot, cqe, isOrdered);
  }

  void movePrepared(const CollectiveRecord& view, const RunAddresses& run, const PreparedMove& move) {
    dfccl::movePrepared(*this, view, run, move);
  }
  /// As on a GPU, in no particular order: here, the last one first.
  void copyPrepared(const CollectiveRecord& view, const RunAddresses& run, const PreparedCopies& copies) {
    PreparedCopies reversed = copies;
    std::reverse(reversed.copies, reversed.copies + reversed.count);
    dfccl::copyPrepared(*this, view, run, reversed);
  }

  void beginRound(ContextSlots<TestPlatform>& slots, const TaskQueue<TestPlatform>& tasks,
                  const RoundPositions& positions) {
    round_.begin(*this, slots, tasks, positions);
    isBesideRound = true;
  }
  bool isRoundOver() const { return false; }
  const RoundTurn* endRound() {
    isBesideRound = false;
    return round_.end(*this);
  }

  bool exchange(const Exchange& e) {
    const size_t bytes = e.count * sizeOf(e.type);
    if (!mayTouch(e.own, bytes, "reads") || !mayTouch(e.result, bytes, "writes")) return false;
    return CpuPlatform<RulesType>::exchange(e);
  }
  void beginExchange(const Exchange& e) { begun_ = &e; }
  bool endExchange() { return exchange(*begun_); }

 private:
  static inline bool isBesideRound = false;

  static bool mayTouch(const void* at, size_t bytes, const char* what) {
    if (Surroundings::memory->mayTouch(at, bytes)) return true;
    if (Surroundings::violation.empty()) {
      Surroundings::violation = std::string("the engine ") + what + " a buffer that isn't lent to it";
    }
    return false;
  }

  const Exchange* begun_ = nullptr;
  RoundInSequence<TestPlatform> round_;
};
static_assert(Platform<TestPlatform<AllRules>>);

}  // namespace dfccl::test

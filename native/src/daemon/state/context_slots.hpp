#pragma once
// Contexts of the tasks that ran last, in the block's shared memory, direct-mapped by collective; saved lazily: only
// what changed, and only when its slot is taken or the daemon leaves (DFCCL, section 5).
#include <cstdint>

#include "daemon/state/prepared_part.hpp"
#include "daemon/state/rank_memory.hpp"

namespace dfccl {

struct ContextSlot {
  uint32_t task = kNoRun;
  bool isDirty = false;
  uint16_t blockCount = 0;  // of the program
  uint32_t programBlock = 0;
  uint32_t index = 0;  // of the collective
  CollectiveRecord* collective = nullptr;
  // Its constant part, perhaps in a nearer memory; null until somebody asks, see ContextSlots::viewOf.
  const CollectiveRecord* view = nullptr;
  RunRecord* run = nullptr;
  RunAddresses addresses{};  // of it
  DynamicContext dynamic{};
};

/// Where a platform has no better place for contexts, and for what is prepared. Apart: where nothing is prepared, the
/// contexts stay small.
template <uint32_t kContexts, uint32_t kPrepared>
class OwnTaskPlaces {
 public:
  static constexpr bool kLasts = false;  // from one stay to the next

  DFCCL_HD OwnTaskPlaces(const RankMemory&, uint32_t) {}
  DFCCL_HD ContextSlot& context(uint32_t place) { return contexts_[place]; }
  DFCCL_HD PreparedPart& prepared(uint32_t place) { return prepared_[place]; }

 private:
  ContextSlot contexts_[kContexts];
  PreparedPart prepared_[kPrepared];
};

/// What is to begin, or to go on.
struct TaskRun {
  uint32_t task;
  uint32_t collective;  // index
  uint32_t programBlock;
  uint32_t blockCount;
};

template <class P>
class ContextSlots {
 public:
  using Rules = typename P::Rules;
  static constexpr uint32_t kSlots = P::kContextSlots;

  DFCCL_HD ContextSlots(RankMemory& memory, uint32_t block) : places_(memory, block) {}

  /// The context of a task of `collective`, loaded if another's is in its place.
  /// @param block whose task it is.
  DFCCL_HD ContextSlot& load(RankMemory& memory, const BlockMemory& block, BlockCounters& counters, uint32_t task,
                             uint32_t collective) {
    ContextSlot& slot = places_.context(collective % kSlots);
    if (slot.task == task) return slot;
    save(memory, counters, slot);
    const TaskContext context = memory.contexts[task];
    fill(memory, slot, {task, collective, context.programBlock, context.blockCount},
         block.takenRuns[context.dynamic.slot], context.dynamic);
    counters.contextLoads.add(1);
    return slot;
  }
  /// A context for a run that a task begins.
  DFCCL_HD ContextSlot& begin(RankMemory& memory, BlockCounters& counters, const TaskRun& run,
                              const RunAddresses& addresses, uint32_t runSlot) {
    ContextSlot& slot = places_.context(run.collective % kSlots);
    if (slot.task != run.task) save(memory, counters, slot);
    fill(memory, slot, run, addresses, DynamicContext{0, 0, Phase::starting, 0, 0, 0, runSlot});
    slot.isDirty = true;
    return slot;
  }
  /// A context for a task of which no run is under way, so that none of it is in the queue.
  DFCCL_HD ContextSlot& claim(RankMemory& memory, BlockCounters& counters, const TaskRun& run) {
    ContextSlot& slot = places_.context(run.collective % kSlots);
    if (slot.task != run.task) [[unlikely]] {
      save(memory, counters, slot);
      give(memory, slot, run);
    }
    return slot;
  }
  /// Index and tasks are given to another collective. What is there of others stays.
  DFCCL_HD void forget(uint32_t collective, uint32_t firstTask, uint32_t blockCount) {
    ContextSlot& slot = places_.context(collective % kSlots);
    if (slot.task - firstTask < blockCount) slot = ContextSlot{};
    if (!P::kTriesAtOnce) return;
    PreparedPart& part = places_.prepared(collective % kSlots);
    if (part.task - firstTask < blockCount) part.task = PreparedPart::kNoTask;
  }
  /// Where contexts of a collective are kept, whosever is there.
  DFCCL_HD ContextSlot& at(uint32_t collective) { return places_.context(collective % kSlots); }
  /// The constant part of the collective of the task in this slot.
  DFCCL_HD static const CollectiveRecord& viewOf(ContextSlot& slot) {
    const bool isStarted = slot.dynamic.phase != Phase::starting || slot.dynamic.step != 0;
    slot.view = P::nearView(slot.index, *slot.collective, slot.view, isStarted);
    return *slot.view;
  }
  /// What is prepared of the task in this slot. @pre P::kTriesAtOnce
  DFCCL_HD PreparedPart& preparedOf(const ContextSlot& slot) { return preparedAt(slot.index); }
  DFCCL_HD PreparedPart& preparedAt(uint32_t collective) { return places_.prepared(collective % kSlots); }
  /// The run of the task that is in this slot is over.
  DFCCL_HD static void end(ContextSlot& slot) { slot.isDirty = false; }
  DFCCL_HD void saveAll(RankMemory& memory, BlockCounters& counters) {
    if constexpr (P::TaskPlaces::kLasts) return;
    for (uint32_t place = 0; place < kSlots; ++place) {
      save(memory, counters, places_.context(place));
      places_.context(place) = ContextSlot{};
      if (P::kTriesAtOnce) places_.prepared(place).task = PreparedPart::kNoTask;
    }
  }

 private:
  DFCCL_HD void fill(RankMemory& memory, ContextSlot& slot, const TaskRun& run, const RunAddresses& addresses,
                     const DynamicContext& dynamic) {
    if (slot.task != run.task) give(memory, slot, run);
    slot.view = nullptr;
    slot.run = &memory.runs[dynamic.slot];
    slot.addresses = addresses;
    slot.dynamic = dynamic;
  }
  DFCCL_HD static void give(RankMemory& memory, ContextSlot& slot, const TaskRun& run) {
    slot.task = run.task;
    slot.programBlock = run.programBlock;
    slot.blockCount = static_cast<uint16_t>(run.blockCount);
    slot.index = run.collective;
    slot.collective = &memory.collectives[run.collective];
    slot.view = nullptr;
    slot.dynamic = DynamicContext{};
  }
  DFCCL_HD void save(RankMemory& memory, BlockCounters& counters, ContextSlot& slot) {
    if (slot.task == kNoRun || !slot.isDirty) return;
    if (Rules::saveDirtyContexts) memory.contexts[slot.task].dynamic = slot.dynamic;
    slot.isDirty = false;
    P::mark(TracePoint::contextSaved, slot.task);
    counters.contextSaves.add(1);
  }

  typename P::TaskPlaces places_;
};

}  // namespace dfccl

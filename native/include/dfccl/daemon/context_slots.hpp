#pragma once
// Contexts of the tasks that ran last, in the block's shared memory, direct-mapped by collective; saved lazily: only
// what changed, and only when its slot is taken or the daemon leaves (dfccl.txt section 5).
#include <cstdint>

#include "dfccl/daemon/prepared_part.hpp"
#include "dfccl/daemon/rank_memory.hpp"

namespace dfccl {

struct ContextSlot {
  uint32_t task = kNoRun;
  bool isDirty = false;
  uint32_t programBlock = 0;
  CollectiveRecord* collective = nullptr;
  const CollectiveRecord* view = nullptr;  // its constant part, perhaps in a nearer memory
  RunRecord* run = nullptr;
  RunAddresses addresses{};  // of it
  DynamicContext dynamic{};
};

template <class P>
class ContextSlots {
 public:
  using Rules = typename P::Rules;
  static constexpr uint32_t kSlots = P::kContextSlots;

  /// The context of a task of `collective`, loaded if another's is in its place.
  DFCCL_HD ContextSlot& load(RankMemory& memory, BlockCounters& counters, uint32_t task, uint32_t collective) {
    ContextSlot& slot = slots_[collective % kSlots];
    if (slot.task == task) return slot;
    save(memory, counters, slot);
    const TaskContext context = memory.contexts[task];
    fill(memory, slot, task, collective, context.programBlock, memory.runs[context.dynamic.slot], context.dynamic);
    counters.contextLoads.add(1);
    return slot;
  }
  /// A context for a run that `task` begins.
  DFCCL_HD ContextSlot& begin(RankMemory& memory, BlockCounters& counters, uint32_t task, uint32_t collective,
                              uint32_t programBlock, const RunAddresses& addresses, uint32_t runSlot) {
    ContextSlot& slot = slots_[collective % kSlots];
    if (slot.task != task) save(memory, counters, slot);
    fill(memory, slot, task, collective, programBlock, addresses,
         DynamicContext{0, 0, Phase::starting, 0, 0, 0, runSlot});
    slot.isDirty = true;
    return slot;
  }
  /// Where contexts of a collective are kept, whosever is there.
  DFCCL_HD ContextSlot& at(uint32_t collective) { return slots_[collective % kSlots]; }
  /// What is prepared of the task in this slot. @pre P::kTriesAtOnce
  DFCCL_HD PreparedPart& preparedOf(const ContextSlot& slot) { return prepared_[&slot - slots_]; }
  /// The run of the task that is in this slot is over.
  DFCCL_HD static void end(ContextSlot& slot) { slot.isDirty = false; }
  DFCCL_HD void saveAll(RankMemory& memory, BlockCounters& counters) {
    for (ContextSlot& slot : slots_) {
      save(memory, counters, slot);
      slot = ContextSlot{};
      forgetPrepared(slot);
    }
  }

 private:
  DFCCL_HD void fill(RankMemory& memory, ContextSlot& slot, uint32_t task, uint32_t collective, uint32_t programBlock,
                     const RunAddresses& addresses, const DynamicContext& dynamic) {
    CollectiveRecord* record = &memory.collectives[collective];
    if (slot.task != task) forgetPrepared(slot);
    slot.task = task;
    slot.programBlock = programBlock;
    slot.run = &memory.runs[dynamic.slot];
    slot.addresses = addresses;
    slot.dynamic = dynamic;
    slot.view =
        P::nearView(static_cast<uint32_t>(&slot - slots_), *record, slot.collective == record ? slot.view : nullptr,
                    dynamic.phase != Phase::starting || dynamic.step != 0);
    slot.collective = record;
  }
  DFCCL_HD void forgetPrepared(const ContextSlot& slot) {
    if (P::kTriesAtOnce) preparedOf(slot).task = PreparedPart::kNoTask;
  }
  DFCCL_HD void save(RankMemory& memory, BlockCounters& counters, ContextSlot& slot) {
    if (slot.task == kNoRun || !slot.isDirty) return;
    if (Rules::saveDirtyContexts) memory.contexts[slot.task].dynamic = slot.dynamic;
    slot.isDirty = false;
    P::mark(TracePoint::contextSaved, slot.task);
    counters.contextSaves.add(1);
  }

  ContextSlot slots_[kSlots];
  // Apart: where nothing is tried at once, the slots stay small.
  PreparedPart prepared_[P::kTriesAtOnce ? kSlots : 1];
};

}  // namespace dfccl

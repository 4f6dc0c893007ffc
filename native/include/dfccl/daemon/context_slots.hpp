#pragma once
// Contexts of the tasks that ran last, in the block's shared memory, direct-mapped by task number; saved lazily: only
// what changed, and only when its slot is taken or the daemon leaves (dfccl.txt section 5).
#include <cstdint>

#include "dfccl/daemon/rank_memory.hpp"

namespace dfccl {

struct ContextSlot {
  uint32_t task = kNoRun;
  bool isDirty = false;
  uint32_t programBlock = 0;
  CollectiveRecord* collective = nullptr;
  RunRecord* run = nullptr;
  DynamicContext dynamic{};
};

template <class Rules>
class ContextSlots {
 public:
  static constexpr uint32_t kSlots = 8;

  /// The context of `task`, loaded if another's is in its place.
  ContextSlot& load(RankMemory& memory, BlockCounters& counters, uint32_t task) {
    ContextSlot& slot = slots_[task % kSlots];
    if (slot.task == task) return slot;
    save(memory, counters, slot);
    const TaskContext& context = memory.contexts[task];
    slot.task = task;
    slot.programBlock = context.programBlock;
    slot.collective = &memory.collectives[context.collective];
    slot.run = &memory.runs[context.dynamic.slot];
    slot.dynamic = context.dynamic;
    counters.contextLoads.add(1);
    return slot;
  }
  /// The task's context in memory was written anew: what is cached of it is void.
  void forget(uint32_t task) {
    ContextSlot& slot = slots_[task % kSlots];
    if (slot.task == task) slot = ContextSlot{};
  }
  void saveAll(RankMemory& memory, BlockCounters& counters) {
    for (ContextSlot& slot : slots_) {
      save(memory, counters, slot);
      slot = ContextSlot{};
    }
  }

 private:
  void save(RankMemory& memory, BlockCounters& counters, ContextSlot& slot) {
    if (slot.task == kNoRun || !slot.isDirty) return;
    if (Rules::saveDirtyContexts) memory.contexts[slot.task].dynamic = slot.dynamic;
    slot.isDirty = false;
    counters.contextSaves.add(1);
  }

  ContextSlot slots_[kSlots];
};

}  // namespace dfccl

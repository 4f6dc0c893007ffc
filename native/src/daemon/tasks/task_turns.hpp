#pragma once
// How a task goes on when its turn comes: by what is prepared of its part, else by the interpreter. Also what it can do
// before that, when its run begins.
#include <cstdint>

#include "daemon/movers/interpreter.hpp"
#include "daemon/movers/prepared_exchange_task.hpp"
#include "daemon/movers/prepared_move_task.hpp"
#include "daemon/state/context_slots.hpp"

namespace dfccl {

template <class P>
struct TaskTurns {
  DFCCL_HD static Advance advance(P& platform, ContextSlots<P>& slots, ContextSlot& slot, int64_t budget) {
    if (!isPrepared(slots, slot)) return interpret(platform, slot, budget);
    PreparedPart& part = slots.preparedOf(slot);
    if (!part.isExchange()) return advanceMove(platform, part, slot, budget);
    bool progressed = false;
    const Outcome outcome = preparedExchange(platform, part, slot).advance(budget, progressed);
    return {outcome, progressed, budget};
  }

  /// A run has begun in `slot`: tells the others, or sends them, what they can have before the task's turn.
  /// @param isWaiting others have their turns before it. @return whether the task needs nobody else to go on.
  DFCCL_HD static bool beginEarly(P& platform, ContextSlots<P>& slots, ContextSlot& slot, bool isWaiting) {
    bool progressed = false;
    if (isPrepared(slots, slot)) {
      PreparedPart& part = slots.preparedOf(slot);
      if (!part.isExchange()) {
        PreparedMoveTask<P>(platform, part, slot).publishBuffers(progressed);
      } else if (isWaiting && P::kRoundTurns == 0) {
        // The next round does so for all that have come in.
        preparedExchange(platform, part, slot).sendEarly();
      }
      return false;
    }
    const BoundProgram& program = *ContextSlots<P>::viewOf(slot).program;
    if (slot.programBlock == 0 && program.usesDirect()) {
      interpreter(platform, slot).publishBuffers(progressed);
      return slot.dynamic.isLast != 0;
    }
    if (program.exchanges && isWaiting) interpreter(platform, slot).sendEarly();
    return false;
  }

  /// Makes ready what every run of the task repeats. @pre A run has ended.
  DFCCL_HD static void prepare(P& platform, ContextSlots<P>& slots, ContextSlot& slot, uint32_t task) {
    PreparedPart& part = slots.preparedOf(slot);
    if (part.isOf(task)) return;
    interpreter(platform, slot).prepare(task, part);
    if (part.isOf(task)) part.meeting = PreparedMeeting::of(*slot.collective);
  }

 private:
  DFCCL_HD static bool isPrepared(ContextSlots<P>& slots, const ContextSlot& slot) {
    return P::kTriesAtOnce && slots.preparedOf(slot).isOf(slot.task);
  }
  DFCCL_HD static Interpreter<P> interpreter(P& platform, ContextSlot& slot) {
    return {platform,          *slot.collective, ContextSlots<P>::viewOf(slot), slot.addresses, *slot.run,
            slot.programBlock, slot.dynamic};
  }
  DFCCL_HD static PreparedExchangeTask<P> preparedExchange(P& platform, PreparedPart& part, ContextSlot& slot) {
    return {platform, part.exchange, *slot.collective, slot.blockCount, slot.addresses, *slot.run, slot.dynamic};
  }

  DFCCL_HD DFCCL_COLD static Advance advanceMove(P& platform, const PreparedPart& part, ContextSlot& slot,
                                                 int64_t budget) {
    bool progressed = false;
    PreparedMoveTask<P> task(platform, part, slot);
    if (!task.isMine()) return interpret(platform, slot, budget);
    const Outcome outcome = task.advance(budget, progressed);
    return {outcome, progressed, budget};
  }

  DFCCL_HD DFCCL_COLD static Advance interpret(P& platform, ContextSlot& slot, int64_t budget) {
    bool progressed = false;
    const Outcome outcome = interpreter(platform, slot).advance(budget, progressed);
    return {outcome, progressed, budget};
  }
};

}  // namespace dfccl

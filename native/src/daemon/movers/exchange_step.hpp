#pragma once
#include <cstdint>

#include "daemon/movers/task_slice.hpp"
#include "daemon/state/exchange.hpp"

namespace dfccl {

/// The exchange that a step of `slice` is, at the slice's tile and run.
template <class P>
DFCCL_HD Exchange exchangeOf(const TaskSlice<P>& slice, const StepRecord& step) {
  const CollectiveRecord& c = slice.collective;
  const BoundProgram& program = slice.program;
  const uint32_t members = slice.places.members;
  const uint32_t chunk = program.refs[step.firstRef].chunk;
  const ChunkRange range = program.range(BufferKind::input, chunk);
  const uint64_t slots = program.landingSlots();
  const uint64_t slot = uint64_t{chunk} * program.tiles + slice.context.tile;
  const uint64_t half = P::Rules::landsByParity ? slice.run.run % 2 * members * slots : 0;
  Exchange e;
  e.type = c.type;
  e.op = c.op;
  e.isSent = slice.context.isSent;
  e.isSendOnly = 0;
  e.member = c.member;
  e.members = members;
  e.divisor = c.op == ReduceOp::avg ? members : 0;
  e.run = slice.run.run;
  e.own = slice.at(c.member, BufferKind::input, range);
  e.result = slice.at(c.member, BufferKind::output, range);
  e.count = program.elementsOfTile(range, slice.context.tile);
  e.scales = slice.places.scales;
  e.landings = slice.places.landings;
  e.slotOffset = (half + slot) * program.landingSlotBytes;
  e.memberStride = slots * program.landingSlotBytes;
  return e;
}

template <class P>
class ExchangeStep {
 public:
  using Slice = TaskSlice<P>;

  /// This member's part, before the task's turn.
  DFCCL_HD static void send(const Slice& slice, const StepRecord& step) {
    uint64_t count = 0;
    carryOut(slice, step, true, count);
  }

  /// @return whether all parts were there.
  DFCCL_HD static bool execute(const Slice& slice, const StepRecord& step, int64_t& budgetBytes, bool& progressed) {
    uint64_t count = 0;
    if (!carryOut(slice, step, false, count)) {
      progressed |= slice.context.isSent == 0;
      slice.context.isSent = 1;
      return false;
    }
    budgetBytes -= static_cast<int64_t>(count * slice.program.elementBytes()) * (2 * slice.places.members);
    slice.context.isSent = 0;
    return true;
  }

 private:
  DFCCL_HD static bool carryOut(const Slice& slice, const StepRecord& step, bool isSendOnly, uint64_t& count) {
    Exchange e = exchangeOf(slice, step);
    e.isSendOnly = isSendOnly;
    count = e.count;
    return count == 0 || slice.platform.exchange(e);
  }
};

}  // namespace dfccl

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

}  // namespace dfccl

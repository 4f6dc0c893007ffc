#pragma once
// Makes ready what every run of a block's part repeats, if that part is a single step.
#include <cstdint>

#include "dfccl/daemon/exchange_step.hpp"
#include "dfccl/daemon/prepared_part.hpp"
#include "dfccl/daemon/task_slice.hpp"

namespace dfccl {

template <class P>
struct PreparePart {
  /// @param slice of a run that has ended. @param runsTogether the last to arrive executes it for all.
  DFCCL_HD DFCCL_COLD static void prepare(const TaskSlice<P>& slice, uint32_t programBlock, bool runsTogether,
                                          uint32_t task, PreparedPart& part) {
    const BoundProgram& program = slice.program;
    const BlockRecord& block = program.blocks[programBlock];
    if (program.tiles != 1 || block.stepCount != 1) return;
    const StepRecord& step = program.steps[block.firstStep];
    if (step.dependencyCount != 0 || step.isAwaited) return;
    slice.context.tile = 0;
    part.isExchange = program.exchanges;
    const bool isReady = program.exchanges ? prepareExchange(slice, step, part.exchange)
                                           : !runsTogether && prepareMove(slice, step, part.move);
    if (isReady) part.task = task;
  }

 private:
  DFCCL_HD static bool prepareExchange(const TaskSlice<P>& slice, const StepRecord& step, PreparedExchange& prepared) {
    const Exchange e = exchangeOf(slice, step);
    if (e.members > PreparedExchange::kMostMembers) return false;
    static_cast<Exchange&>(prepared) = e;
    for (uint32_t m = 0; m < e.members; ++m) {
      prepared.ownLandings[m] = e.landings[m];
      prepared.ownScales[m] = e.scales[m];
    }
    prepared.landings = prepared.ownLandings;
    prepared.scales = prepared.ownScales;
    prepared.isSent = 0;
    prepared.byteOffset = reinterpret_cast<uint64_t>(e.own) - slice.run.sendAddress;
    prepared.halfBytes = P::Rules::landsByParity ? slice.places.members * e.memberStride : 0;
    prepared.evenSlotOffset = e.slotOffset - (slice.run.run % 2 != 0 ? prepared.halfBytes : 0);
    for (uint32_t m = 0; m < e.members; ++m) {
      prepared.evenOutgoing[m] = e.landings[m] + prepared.evenSlotOffset + e.member * e.memberStride;
    }
    prepared.evenIncoming = e.landings[e.member] + prepared.evenSlotOffset;
    return e.count != 0;
  }

  DFCCL_HD static bool prepareMove(const TaskSlice<P>& slice, const StepRecord& step, PreparedMove& move) {
    const BoundProgram& program = slice.program;
    const ReduceOp op = slice.collective.op;
    const uint32_t operands = uint32_t{step.sourceCount} + step.destinationCount;
    if (static_cast<Op>(step.op) != Op::multiReduceCopy || step.count != 1 || op == ReduceOp::scaledSum) return false;
    if (!program.usesDirect() || operands > PreparedMove::kMostOperands) return false;
    move.sourceCount = step.sourceCount;
    move.destinationCount = step.destinationCount;
    move.elements = program.tileElements;
    move.divisor = op == ReduceOp::avg && (step.flags & kFinish) != 0 ? slice.places.members : 0;
    const BoundRef* refs = program.refs.data() + step.firstRef;
    uint32_t inputs = 0, outputs = 0;
    for (uint32_t i = 0; i < operands; ++i) {
      const auto buffer = static_cast<BufferKind>(refs[i].buffer);
      if (buffer == BufferKind::scratch) return false;
      const bool isInput = buffer == BufferKind::input;
      const ChunkRange range = program.range(buffer, refs[i].chunk);
      uint64_t& offset = isInput ? move.inputOffset : move.outputOffset;
      uint32_t& others = isInput ? inputs : outputs;
      if (others++ != 0 && offset != range.byteOffset) return false;
      offset = range.byteOffset;
      if (range.elements < move.elements) move.elements = range.elements;
      move.operands[i] = {static_cast<uint16_t>(refs[i].rank), isInput};
    }
    return move.elements != 0 && step.destinationCount != 0;
  }
};

}  // namespace dfccl

#pragma once
// Makes ready what every run of a block's part repeats, if that part is a single step, or a few copies.
#include <cstdint>

#include "daemon/movers/exchange_step.hpp"
#include "daemon/movers/task_slice.hpp"
#include "daemon/state/prepared_part.hpp"

namespace dfccl {

template <class P>
struct PreparePart {
  /// @param slice of a run that has ended. @param runsTogether the last to arrive executes it for all.
  DFCCL_HD DFCCL_COLD static void prepare(const TaskSlice<P>& slice, uint32_t programBlock, bool runsTogether,
                                          uint32_t task, PreparedPart& part) {
    const BoundProgram& program = slice.program;
    if (program.tiles != 1 || programBlock >= program.header.blockCount) return;
    const BlockRecord& block = program.blocks[programBlock];
    const StepRecord* const steps = program.steps.data() + block.firstStep;
    for (uint32_t i = 0; i < block.stepCount; ++i) {
      if (steps[i].dependencyCount != 0 || steps[i].isAwaited) return;
    }
    slice.context.tile = 0;
    const bool isSingle = block.stepCount == 1;
    const bool moves = program.usesDirect() && slice.collective.op != ReduceOp::scaledSum && !runsTogether;
    if (!program.exchanges && !moves) return;
    // From here on it is no other task's any more.
    part.task = PreparedPart::kNoTask;
    bool isReady = false;
    if (program.exchanges) {
      part.kind = PreparedPart::Kind::exchange;
      isReady = isSingle && prepareExchange(slice, *steps, part.exchange);
    } else {
      part.kind = isSingle ? PreparedPart::Kind::move : PreparedPart::Kind::copies;
      PreparedNotice& notice = isSingle ? part.move.notice : part.copies.notice;
      isReady = (isSingle ? prepareMove(slice, *steps, part.move) : prepareCopies(slice, steps, block, part.copies)) &&
                notice.aimAt(slice.places, slice.collective.member);
    }
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
    if (static_cast<Op>(step.op) != Op::multiReduceCopy || step.count != 1) return false;
    if (operands > PreparedMove::kMostOperands) return false;
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

  /// Copies of one chunk each, none of which needs another to be done before it.
  DFCCL_HD static bool prepareCopies(const TaskSlice<P>& slice, const StepRecord* steps, const BlockRecord& block,
                                     PreparedCopies& prepared) {
    // A rank that has nothing to do waits for the others like one that has, and is done when they are.
    prepared.count = 0;
    if (block.stepCount == 0) return true;
    // In place, what one copy writes may be what another one reads.
    if ((slice.program.header.flags & kInPlace) != 0 || block.stepCount > PreparedCopies::kMost) return false;
    for (uint32_t i = 0; i < block.stepCount; ++i) {
      PreparedCopies::Copy& copy = prepared.copies[prepared.count];
      if (!describeCopy(slice, steps[i], copy)) return false;
      if (copy.elements == 0) continue;
      for (uint32_t j = 0; j < prepared.count; ++j) {
        if (prepared.copies[j].to == copy.to && prepared.copies[j].outputOffset == copy.outputOffset) return false;
      }
      ++prepared.count;
    }
    return true;
  }

  /// @return whether it is one from an input to an output.
  DFCCL_HD static bool describeCopy(const TaskSlice<P>& slice, const StepRecord& step, PreparedCopies::Copy& copy) {
    const BoundProgram& program = slice.program;
    if (static_cast<Op>(step.op) != Op::multiReduceCopy || step.count != 1) return false;
    if (step.sourceCount != 1 || step.destinationCount != 1) return false;
    if (slice.collective.op == ReduceOp::avg && (step.flags & kFinish) != 0) return false;
    const BoundRef& from = program.refs[step.firstRef];
    const BoundRef& to = program.refs[step.firstRef + 1];
    if (static_cast<BufferKind>(from.buffer) != BufferKind::input) return false;
    if (static_cast<BufferKind>(to.buffer) != BufferKind::output) return false;
    const ChunkRange source = program.range(BufferKind::input, from.chunk);
    const ChunkRange destination = program.range(BufferKind::output, to.chunk);
    copy.inputOffset = source.byteOffset;
    copy.outputOffset = destination.byteOffset;
    // A tile's, so few enough.
    copy.elements =
        static_cast<uint32_t>(source.elements < destination.elements ? source.elements : destination.elements);
    copy.from = static_cast<uint16_t>(from.rank);
    copy.to = static_cast<uint16_t>(to.rank);
    return true;
  }
};

}  // namespace dfccl

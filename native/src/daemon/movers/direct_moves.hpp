#pragma once
// Moves between the members' own buffers, without connections: a program's multi-operand steps, and the joint moves
// that the last member to arrive executes for everybody.
#include <cstdint>

#include "daemon/movers/task_slice.hpp"
#include "daemon/state/joint_moves.hpp"

namespace dfccl {

class DirectMoves {
 public:
  template <class Slice>
  DFCCL_HD static void multiReduceCopy(const Slice& slice, const StepRecord& step, int64_t& budgetBytes) {
    const BoundProgram& program = slice.program;
    const MemberBuffers buffers = slice.buffers();
    auto& [sources, destinations, scales] = slice.platform.operands();
    const BoundRef* refs = program.refs.data() + step.firstRef;
    const uint32_t sourceCount = step.sourceCount;
    const uint32_t destinationCount = step.destinationCount;
    const uint64_t tileBegin = slice.tileBegin();
    const uint64_t tileOffset = tileBegin * program.elementBytes();
    for (uint32_t i = 0; i < step.count; ++i) {
      // Of a small buffer most ranks have an empty chunk.
      if (slice.range(static_cast<BufferKind>(refs[0].buffer), refs[0].chunk + i).elements <= tileBegin) continue;
      uint64_t end = tileBegin + slice.tileElements();  // of the tile within its chunk
      const auto place = [&](const BoundRef& ref) {
        const auto buffer = static_cast<BufferKind>(ref.buffer);
        const ChunkRange range = slice.range(buffer, ref.chunk + i);
        if (range.elements < end) end = range.elements;
        return buffers.base(ref.rank, buffer) + range.byteOffset + tileOffset;
      };
      for (uint32_t s = 0; s < sourceCount; ++s) sources[s] = place(refs[s]);
      for (uint32_t t = 0; t < destinationCount; ++t) destinations[t] = place(refs[sourceCount + t]);
      if (end <= tileBegin) continue;
      if (slice.collective.op == ReduceOp::scaledSum) {
        for (uint32_t s = 0; s < sourceCount; ++s) {
          scales[s] = slice.scaleOf(static_cast<BufferKind>(refs[s].buffer), refs[s].rank);
        }
      }
      slice.move((step.flags & kFinish) != 0, static_cast<int>(sourceCount), static_cast<int>(destinationCount),
                 end - tileBegin, budgetBytes);
    }
  }

  /// What all members' steps move together. @pre All have arrived.
  template <class Slice>
  DFCCL_HD static void moveForAll(const Slice& slice, int64_t& budgetBytes) {
    const JointMoves& joint = slice.collective.shared->joint;
    slice.platform.beginSeries();
    for (const JointMove& move : joint.moves) moveJointly(slice, joint, move, budgetBytes);
    slice.platform.endSeries();
  }

 private:
  template <class Slice>
  DFCCL_HD static void moveJointly(const Slice& slice, const JointMoves& joint, const JointMove& move,
                                   int64_t& budgetBytes) {
    const MemberBuffers buffers = slice.buffers();
    auto& [sources, destinations, scales] = slice.platform.operands();
    const JointRef* ref = joint.refs.data() + move.firstRef;
    const uint64_t times = slice.times();
    for (uint32_t s = 0; s < move.sourceCount; ++s, ++ref) {
      sources[s] = buffers.base(ref->member, ref->buffer) + ref->byteOffset * times;
      if (slice.collective.op == ReduceOp::scaledSum) scales[s] = slice.scaleOf(ref->buffer, ref->member);
    }
    for (uint32_t t = 0; t < move.destinationCount; ++t, ++ref) {
      destinations[t] = buffers.base(ref->member, ref->buffer) + ref->byteOffset * times;
    }
    slice.move(move.finishes, move.sourceCount, move.destinationCount, move.elements * times, budgetBytes);
  }
};

}  // namespace dfccl

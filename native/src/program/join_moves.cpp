#include "program/join_moves.hpp"

#include <algorithm>

namespace dfccl {
namespace {

struct Candidate {
  JointMove move;
  std::vector<JointRef> refs;
};

/// Chunk `i` of a step; nothing of it may be left in a small buffer. @param sizes null: the program's.
Candidate moveOf(const BoundProgram& program, const StepRecord& step, uint32_t i, const ChunkSizes* sizes) {
  const auto operands = static_cast<uint32_t>(step.sourceCount) + step.destinationCount;
  Candidate made{{UINT64_MAX, 0, step.sourceCount, step.destinationCount, (step.flags & kFinish) != 0}, {}};
  for (uint32_t r = 0; r < operands; ++r) {
    const BoundRef& ref = program.refs[step.firstRef + r];
    const auto buffer = static_cast<BufferKind>(ref.buffer);
    const ChunkRange range =
        sizes == nullptr ? program.range(buffer, ref.chunk + i) : program.range(buffer, ref.chunk + i, *sizes);
    made.move.elements = std::min(made.move.elements, range.elements);
    made.refs.push_back({ref.rank, buffer, range.byteOffset});
  }
  return made;
}

/// Whether `b` goes on exactly where `a` ends, in every operand.
bool continues(const Candidate& a, const Candidate& b, size_t elementBytes) {
  const bool sameKind =
      a.move.sourceCount == b.move.sourceCount && a.refs.size() == b.refs.size() && a.move.finishes == b.move.finishes;
  return sameKind &&
         std::equal(a.refs.begin(), a.refs.end(), b.refs.begin(), [&](JointRef left, const JointRef& right) {
           left.byteOffset += a.move.elements * elementBytes;
           return left == right;
         });
}

/// Whether no byte that a move writes is one that it reads, or writes for another reason, at another place. A member's
/// input may be its output, so both count as one buffer.
bool touchesOnePlaceOfAMember(const Candidate& c) {
  return std::all_of(c.refs.begin() + c.move.sourceCount, c.refs.end(), [&](const JointRef& written) {
    return std::all_of(c.refs.begin(), c.refs.end(), [&](const JointRef& other) {
      return other.member != written.member || other.byteOffset == written.byteOffset;
    });
  });
}

/// Whether a program's steps may be executed by anybody, once all members' buffers are known.
bool movesBuffersOnly(const BoundProgram& program) {
  if (!program.usesDirect() || program.header.blockCount != 1 || !program.connections.empty()) return false;
  return std::all_of(program.steps.begin(), program.steps.end(), [&](const StepRecord& step) {
    if (static_cast<Op>(step.op) != Op::multiReduceCopy || step.dependencyCount != 0) return false;
    const BoundRef* const refs = program.refs.data() + step.firstRef;
    return std::all_of(refs, refs + step.sourceCount + step.destinationCount,
                       [](const BoundRef& ref) { return static_cast<BufferKind>(ref.buffer) != BufferKind::scratch; });
  });
}

/// What the steps read and write in a run of as many elements as a segment has chunks.
uint64_t bytesOfSteps(const BoundProgram& program) {
  uint64_t operands = 0;
  for (const StepRecord& step : program.steps) {
    operands += uint64_t{step.count} * (uint32_t{step.sourceCount} + step.destinationCount);
  }
  return operands * program.elementBytes();
}

OwnedJointMoves joinWith(std::span<const BoundProgram* const> programs, const ChunkSizes* sizes) {
  std::vector<Candidate> joined;
  for (const BoundProgram* program : programs) {
    for (const StepRecord& step : program->steps) {
      for (uint32_t i = 0; i < step.count; ++i) {
        Candidate next = moveOf(*program, step, i, sizes);
        if (next.move.elements == 0 || next.move.destinationCount == 0) continue;
        const bool isOne = !joined.empty() && continues(joined.back(), next, program->elementBytes()) &&
                           touchesOnePlaceOfAMember(joined.back());
        if (isOne) {
          joined.back().move.elements += next.move.elements;
        } else {
          joined.push_back(std::move(next));
        }
      }
    }
  }
  OwnedJointMoves owned;
  owned.moves.reserve(joined.size());
  for (Candidate& candidate : joined) {
    candidate.move.firstRef = static_cast<uint32_t>(owned.refs.size());
    owned.moves.push_back(candidate.move);
    owned.refs.insert(owned.refs.end(), candidate.refs.begin(), candidate.refs.end());
  }
  owned.refs.shrink_to_fit();
  return owned;
}

}  // namespace

OwnedJointMoves joinMoves(std::span<const BoundProgram* const> programs) { return joinWith(programs, nullptr); }

OwnedJointMoves joinMovesOfOne(std::span<const BoundProgram* const> programs, uint64_t mostBytes) {
  // As many elements as a segment has chunks cut it evenly. What is joined to whole segments then is so for any count.
  const uint64_t elements = programs.front()->header.chunksPerSegment;
  uint64_t bytes = 0;
  for (const BoundProgram* program : programs) {
    if (program->header.chunksPerSegment != elements || !movesBuffersOnly(*program)) return {};
    bytes += bytesOfSteps(*program);
  }
  bytes = (bytes + elements - 1) / elements;
  if (bytes > mostBytes) return {};
  const ChunkSizes sizes = programs.front()->sizesFor(elements);
  OwnedJointMoves made = joinWith(programs, &sizes);
  const uint64_t segmentBytes = elements * programs.front()->elementBytes();
  for (JointMove& move : made.moves) {
    if (move.elements != elements) return {};
    move.elements = 1;
  }
  for (JointRef& ref : made.refs) {
    if (ref.byteOffset % segmentBytes != 0) return {};
    ref.byteOffset /= elements;
  }
  made.bytesOfOne = bytes;
  return made;
}

}  // namespace dfccl

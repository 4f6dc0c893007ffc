#pragma once
// What the steps of a program work with while one slice of a task is executed.
#include <cstddef>
#include <cstdint>

#include "base/reduce_copy.hpp"
#include "daemon/state/member_buffers.hpp"
#include "daemon/state/records.hpp"

namespace dfccl {

inline constexpr int kMaxStepRefs = 256;  // sources or destinations of one step; the loader refuses more

/// The operands of one move: memory of the platform's, because on a GPU the whole block reads them.
struct MoveOperands {
  const void* sources[kMaxStepRefs];
  void* destinations[kMaxStepRefs];
  double scales[kMaxStepRefs];
};

template <class P>
struct TaskSlice {
  P& platform;
  const CollectiveRecord& collective;  // its constant part
  const MeetingPlaces& places;
  const BoundProgram& program;
  const RunAddresses& run;
  DynamicContext& context;

  DFCCL_HD MemberBuffers buffers() const { return {collective, places, run}; }

  /// A range of a member's buffer, at the current tile.
  DFCCL_HD uint8_t* at(uint32_t member, BufferKind buffer, const ChunkRange& range) const {
    return buffers().base(member, buffer) + range.byteOffset + tileBegin() * program.elementBytes();
  }
  /// The first element of the current tile within its chunk.
  DFCCL_HD uint64_t tileBegin() const { return context.tile * program.tileElements; }

  /// Of scaledSum: a member's input counts with its own factor.
  DFCCL_HD double scaleOf(BufferKind buffer, uint32_t member) const {
    return buffer == BufferKind::input ? places.scales[member] : 1.0;
  }

  /// Moves between the first operands of each list.
  DFCCL_HD void move(bool finishes, int sourceCount, int destinationCount, uint64_t elements,
                     int64_t& budgetBytes) const {
    if (elements == 0 || destinationCount == 0) return;
    const MoveOperands& operands = platform.operands();
    ReduceCopyArgs args{operands.sources, sourceCount, operands.destinations, destinationCount, elements};
    if (collective.op == ReduceOp::scaledSum) args.scales = operands.scales;
    if (collective.op == ReduceOp::avg && finishes) args.divisor = places.members;
    platform.reduceCopy(collective, args, run);
    budgetBytes -= static_cast<int64_t>(elements * program.elementBytes()) * (sourceCount + destinationCount);
  }
};

}  // namespace dfccl

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

/// @tparam kOwnCount of a run that brings its count.
template <class P, bool kOwnCount = false>
struct TaskSlice {
  P& platform;
  const CollectiveRecord& collective;  // its constant part
  const MeetingPlaces& places;
  const BoundProgram& program;
  const RunAddresses& run;
  DynamicContext& context;
  const ChunkSizes* runSizes = nullptr;  // of a run that brings its count

  DFCCL_HD MemberBuffers buffers() const { return {collective, places, run}; }

  DFCCL_HD uint64_t tileElements() const { return kOwnCount ? runSizes->tileElements : program.tileElements; }
  DFCCL_HD ChunkRange range(BufferKind buffer, uint32_t chunk) const {
    return kOwnCount ? program.range(buffer, chunk, *runSizes) : program.range(buffer, chunk);
  }
  /// What a joint move is multiplied by.
  DFCCL_HD uint64_t times() const { return kOwnCount ? runSizes->count : 1; }
  /// Elements of the current tile of a chunk.
  DFCCL_HD uint64_t elementsHere(const ChunkRange& range) const {
    return BoundProgram::elementsOfTile(range, context.tile, tileElements());
  }
  /// ... and of a full chunk: what both ends of a connection agree on.
  DFCCL_HD uint64_t fullTileElements() const {
    return elementsHere({0, kOwnCount ? runSizes->chunkElements : program.chunkElements});
  }

  /// A range of a member's buffer, at the current tile.
  DFCCL_HD uint8_t* at(uint32_t member, BufferKind buffer, const ChunkRange& range) const {
    return buffers().base(member, buffer) + range.byteOffset + tileBegin() * program.elementBytes();
  }
  /// The first element of the current tile within its chunk.
  DFCCL_HD uint64_t tileBegin() const { return context.tile * tileElements(); }

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
    if (kOwnCount) args.workingSetBytes = collective.workingSetBytes * runSizes->count;
    platform.reduceCopy(collective, args, run);
    budgetBytes -= static_cast<int64_t>(elements * program.elementBytes()) * (sourceCount + destinationCount);
  }
};

}  // namespace dfccl

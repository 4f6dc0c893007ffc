#pragma once
// What a member moves in a lane of a large run whose members reach each other's buffers. What all members get is
// reduced, or read, by one of them in equal shares; everything else is sent by who has it.
#include "base/reduce_copy.hpp"
#include "device/captured/direct_lane.cuh"

namespace dfccl::gpu {

struct DirectOperands {
  const void* sources[kMostCapturedMembers];
  void* destinations[kMostCapturedMembers];
  ReduceCopyArgs args;
};

/// What the workers of a block share of it.
struct DirectShared {
  DirectBuffers buffers[kMostCapturedMembers];
  DirectOperands operands;
};

class DirectMoves {
 public:
  DFCCL_HD DirectMoves(const CapturedRun& run, uint32_t lane) : run_(run), lane_(lane) {}

  DFCCL_HD uint32_t count() const {
    switch (run_.collective) {
      case Collective::allToAll:
        return run_.members;
      case Collective::scatter:
        return run_.member == run_.root ? run_.members : 0;
      case Collective::sendRecv:
        return run_.member == run_.root ? 1 : 0;
      case Collective::barrier:
        return 0;
      default:
        return 1;
    }
  }

  /// Nothing is to be moved where it has no elements. @param buffers of all members.
  DFCCL_HD void describe(uint32_t move, const DirectBuffers* buffers, const double* scales, DirectOperands& to) const {
    to.args = ReduceCopyArgs{to.sources, 0, to.destinations, 0, run_.elementsOf(lane_)};
    switch (run_.collective) {
      case Collective::allReduce:
      case Collective::reduce:
      case Collective::broadcast:
        return describeShare(buffers, scales, to);
      case Collective::reduceScatter:
        for (uint32_t m = 0; m < run_.members; ++m) addSource(buffers[m], run_.member, 0, to);
        addDestination(buffers[run_.member], 0, 0, to);
        return reduce(scales, to);
      case Collective::allGather:
        addSource(buffers[run_.member], 0, 0, to);
        for (uint32_t d = 0; d < run_.members; ++d) {
          // Beginning with the next one, so that not all write to the same.
          addDestination(buffers[(run_.member + 1 + d) % run_.members], run_.member, 0, to);
        }
        return leaveOutWhatIsThere(to);
      case Collective::gather:
        addSource(buffers[run_.member], 0, 0, to);
        addDestination(buffers[run_.root], run_.member, 0, to);
        return leaveOutWhatIsThere(to);
      default: {
        const uint32_t receiver = (run_.member + 1 + move) % run_.members;
        if (!run_.sends(run_.member, receiver) || (receiver == run_.member && !run_.copiesOwn())) return nothing(to);
        addSource(buffers[run_.member], run_.segmentTo(receiver), 0, to);
        addDestination(buffers[receiver], run_.segmentFrom(run_.member), 0, to);
        return leaveOutWhatIsThere(to);
      }
    }
  }

 private:
  static constexpr uint64_t kAlignment = 16;  // bytes

  DFCCL_HD void describeShare(const DirectBuffers* buffers, const double* scales, DirectOperands& to) const {
    const uint64_t all = run_.elementsOf(lane_);
    // Narrow, and by a constant: a wide division is many instructions.
    const auto lines = static_cast<uint32_t>((all * sizeOf(run_.type) + kAlignment - 1) / kAlignment);
    const uint64_t share = uint64_t{(lines + run_.members - 1) / run_.members} * (kAlignment / sizeOf(run_.type));
    const uint64_t begin = run_.member * share;
    to.args.count = begin >= all ? 0 : all - begin < share ? all - begin : share;
    const bool isCopy = run_.collective == Collective::broadcast;
    for (uint32_t m = 0; m < run_.members; ++m) {
      if (!isCopy || m == run_.root) addSource(buffers[m], 0, begin, to);
    }
    for (uint32_t d = 0; d < run_.members; ++d) {
      const uint32_t m = (run_.member + 1 + d) % run_.members;
      if (run_.collective != Collective::reduce || m == run_.root) addDestination(buffers[m], 0, begin, to);
    }
    isCopy ? leaveOutWhatIsThere(to) : reduce(scales, to);
  }

  DFCCL_HD void reduce(const double* scales, DirectOperands& to) const {
    if (run_.op == ReduceOp::scaledSum) to.args.scales = scales;
    if (run_.op == ReduceOp::avg) to.args.divisor = run_.members;
  }

  DFCCL_HD uint64_t offsetOf(uint32_t segment, uint64_t begin) const {
    return (segment * run_.count + lane_ * run_.layout.laneElements + begin) * sizeOf(run_.type);
  }
  DFCCL_HD void addSource(const DirectBuffers& of, uint32_t segment, uint64_t begin, DirectOperands& to) const {
    to.sources[to.args.sourceCount++] = reinterpret_cast<const void*>(of.send + offsetOf(segment, begin));
  }
  DFCCL_HD void addDestination(const DirectBuffers& of, uint32_t segment, uint64_t begin, DirectOperands& to) const {
    to.destinations[to.args.destinationCount++] = reinterpret_cast<void*>(of.recv + offsetOf(segment, begin));
  }
  /// A copy in place.
  DFCCL_HD static void leaveOutWhatIsThere(DirectOperands& to) {
    int kept = 0;
    for (int d = 0; d < to.args.destinationCount; ++d) {
      if (to.destinations[d] != to.sources[0]) to.destinations[kept++] = to.destinations[d];
    }
    to.args.destinationCount = kept;
    if (kept == 0) to.args.count = 0;
  }
  DFCCL_HD static void nothing(DirectOperands& to) { to.args.count = 0; }

  const CapturedRun& run_;
  const uint32_t lane_;
};

}  // namespace dfccl::gpu

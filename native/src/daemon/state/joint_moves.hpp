#pragma once
// What all members' programs move together, for collectives that the last member to arrive executes for everybody
// (docs/decisions/0007): the programs' steps with their chunks looked up, and neighbours made one.
#include <cstdint>

#include "base/array.hpp"
#include "base/host_device.hpp"
#include "base/program.hpp"

namespace dfccl {

struct JointRef {
  uint32_t member;
  BufferKind buffer;
  uint64_t byteOffset;

  bool operator==(const JointRef&) const = default;
};

/// One reduce-copy. Its sources stand before its destinations.
struct JointMove {
  uint64_t elements;
  uint32_t firstRef;
  uint16_t sourceCount;
  uint16_t destinationCount;
  bool finishes;  // the last one of its elements: where an average is divided
};

/// Where runs bring their counts, all of it is for a count of one: offsets and elements are multiplied by a run's.
struct JointMoves {
  Array<const JointMove> moves;  // in this order
  Array<const JointRef> refs;
  uint64_t bytesOfOne = 0;  // where runs bring their counts: what one of a single element moves; 0: no moves are known

  /// Whether a run of `count` elements moves no more than `mostBytes`, so that one member may do it for all.
  DFCCL_HD bool isLittle(uint64_t count, uint64_t mostBytes) const {
    return bytesOfOne != 0 && count <= mostBytes && bytesOfOne * count <= mostBytes;
  }
};

}  // namespace dfccl

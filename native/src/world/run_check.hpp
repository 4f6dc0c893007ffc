#pragma once
// Where the buffers of a run may lie. Whoever takes addresses from a user asks here before it submits them.
#include <cstdint>

#include "base/program.hpp"
#include "world/collective_spec.hpp"

namespace dfccl {

struct OwnedRingPlan;  // world/ring_programs.hpp

/// What the buffers of a collective's runs must look like on one rank; fixed by its registration.
struct RunShape {
  uint64_t sendBytes = 0;  // 0: this rank's buffer isn't used, and its address may be anything
  uint64_t recvBytes = 0;
  int64_t inPlaceOffset = 0;     // in place, as NCCL defines it: receive address minus send address
  bool mayBeInPlace = false;     // the collective has such a form, and the program is written for it
  uint32_t elementBytes = 1;     // where memory is asked about, buffers begin at a multiple of it
  bool mayBeOutOfPlace = false;  // the program may run with buffers that don't overlap
  // Where other ranks touch the buffers and are other processes: the memory that they can reach.
  uint64_t windowBegin = 0;
  uint64_t windowEnd = uint64_t{1} << 48;
  // Or they map it where it lies, and runs say which of it: Backend::windowsOf().
  bool namesWindows = false;
  // ... and if the others haven't mapped it, the run goes through connectors, so any memory will do.
  bool stagesUnmapped = false;
  // Memory of the receiver's that a message takes as long as either of its ranks has it registered.
  uint64_t messageBytes = 0;
  // Or runs may go through rings.
  const OwnedRingPlan* rings = nullptr;
};

/// What the buffers of a run of `count` elements must look like. @param ofOne of a run of one element.
inline RunShape shapeAt(const RunShape& ofOne, uint64_t count) {
  RunShape shape = ofOne;
  shape.sendBytes *= count;
  shape.recvBytes *= count;
  shape.inPlaceOffset *= static_cast<int64_t>(count);
  return shape;
}
/// @param shape of a run of `count` elements.
RunShape shapeOfOne(const RunShape& shape, uint64_t count);

RunShape runShapeOf(const CollectiveSpec& spec, uint32_t member, const ProgramHeader& program);

inline bool isInWindow(const RunShape& shape, uint64_t address, uint64_t bytes) {
  return bytes == 0 || (address >= shape.windowBegin && address + bytes <= shape.windowEnd);
}

/// Whether a run with these addresses may be submitted. Cheap enough for every run.
inline bool isAllowed(const RunShape& shape, const void* send, const void* recv) {
  const auto from = reinterpret_cast<uint64_t>(send);
  const auto to = reinterpret_cast<uint64_t>(recv);
  if (((from | to) >> 48) != 0) return false;  // more than an SQE carries
  if ((from == 0 && shape.sendBytes != 0) || (to == 0 && shape.recvBytes != 0)) return false;
  if (!isInWindow(shape, from, shape.sendBytes) || !isInWindow(shape, to, shape.recvBytes)) return false;
  if (shape.sendBytes == 0 || shape.recvBytes == 0) return true;
  if (from + shape.sendBytes <= to || to + shape.recvBytes <= from) return shape.mayBeOutOfPlace;
  return shape.mayBeInPlace && static_cast<int64_t>(to - from) == shape.inPlaceOffset;
}

/// @throws Error dfcclInvalidArgument that names the buffer, the rank, and what is allowed, unless isAllowed().
void checkRun(const RunShape& shape, const CollectiveSpec& spec, uint32_t rank, const void* send, const void* recv);

}  // namespace dfccl

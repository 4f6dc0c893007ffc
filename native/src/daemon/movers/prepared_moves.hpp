#pragma once
#include <cstdint>

#include "base/reduce_copy.hpp"
#include "daemon/state/member_buffers.hpp"
#include "daemon/state/prepared_part.hpp"

namespace dfccl {

/// Carries a prepared move out, its operands looked up one after the other. @pre All peers' buffers are known.
template <class P>
void movePrepared(P& platform, const CollectiveRecord& view, const RunAddresses& run, const PreparedMove& move) {
  const MemberBuffers buffers{view, *view.places, run};
  const void* sources[PreparedMove::kMostOperands];
  void* destinations[PreparedMove::kMostOperands];
  for (uint32_t i = 0; i < move.sourceCount + move.destinationCount; ++i) {
    const PreparedMove::Operand& operand = move.operands[i];
    uint8_t* const place = buffers.userBuffer(operand.member, operand.isInput) + move.offsetOf(operand);
    if (i < move.sourceCount) {
      sources[i] = place;
    } else {
      destinations[i - move.sourceCount] = place;
    }
  }
  ReduceCopyArgs args{sources, static_cast<int>(move.sourceCount), destinations,
                      static_cast<int>(move.destinationCount), move.elements};
  args.divisor = move.divisor;
  platform.reduceCopy(view, args, run);
}

/// Carries prepared copies out, one after the other. @pre All peers' buffers are known.
template <class P>
void copyPrepared(P& platform, const CollectiveRecord& view, const RunAddresses& run, const PreparedCopies& prepared) {
  const MemberBuffers buffers{view, *view.places, run};
  for (uint32_t i = 0; i < prepared.count; ++i) {
    const PreparedCopies::Copy& copy = prepared.copies[i];
    const void* source = buffers.userBuffer(copy.from, true) + copy.inputOffset;
    void* destination = buffers.userBuffer(copy.to, false) + copy.outputOffset;
    platform.reduceCopy(view, {&source, 1, &destination, 1, copy.elements}, run);
  }
}

}  // namespace dfccl

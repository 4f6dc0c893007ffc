#pragma once
// An exchange by the workers of a block, in the way that is quickest for it.
#include "exchange_held.cuh"
#include "exchange_lines.cuh"
#include "exchange_short.cuh"
#include "typed_moves.cuh"
#include "with_type.cuh"

namespace dfccl::gpu {

// What is seldom done, or takes long, is out of line: what the short moves need lies together.

/// @return whether the parts were there, here and below: the same for every worker.
__device__ __noinline__ inline bool exchangeAny(const Exchange& e) {
  if (isHeld(e)) return exchangeHeld(e);
  if (!e.isSent) sendPartsInTeam(e, e.count * sizeOf(e.type));
  if (e.isSendOnly) return false;
  return withType(e.type, [&]<class T>() { return TypedMoves<T>::reduceParts(e.op, e); });
}

__device__ inline bool exchangePlainOrAny(const Exchange& e) { return isPlain(e) ? exchangePlain(e) : exchangeAny(e); }

}  // namespace dfccl::gpu

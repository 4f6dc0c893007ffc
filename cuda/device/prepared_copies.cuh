#pragma once
// Several copies under one order. Each worker begins every copy at another place, so that small ones are all under way
// together, each by warps of its own.
#include "block/block_shared.cuh"
#include "reduce_copy.cuh"
#include "team_vote.cuh"
#include "typed_moves.cuh"

namespace dfccl::gpu {
namespace prepared {

/// A worker for each end of each copy. @return whether it begins and ends at 16-byte boundaries.
__device__ inline bool placeEnd(const TeamOrder& order) {
  const uint32_t worker = threadIdx.x;
  if (worker >= 2 * order.copies->count) return true;
  const PreparedCopies::Copy copy = order.copies->copies[worker / 2];
  const MemberBuffers buffers{*order.view, *order.view->places, order.run};
  MoveOperands& operands = blockShared().operands;
  uint8_t* place;
  if (worker % 2 == 0) {
    place = buffers.userBuffer(copy.from, true) + copy.inputOffset;
    operands.sources[worker / 2] = place;
  } else {
    place = buffers.userBuffer(copy.to, false) + copy.outputOffset;
    operands.destinations[worker / 2] = place;
  }
  return (reinterpret_cast<uint64_t>(place) | copy.elements * sizeOf(order.type)) % 16 == 0;
}

/// A worker's pieces, from `first` on.
__device__ inline void copyPieces(const uint4* from, uint4* to, uint32_t pieces, uint32_t first) {
  constexpr int kAtOnce = 8;
#pragma unroll 1
  for (uint32_t i = first; i < pieces; i += kAtOnce * kWorkers) {
    uint4 loaded[kAtOnce];
#pragma unroll
    for (int p = 0; p < kAtOnce; ++p) {
      if (i + p * kWorkers < pieces) loaded[p] = loadPiece(from + i + p * kWorkers);
    }
#pragma unroll
    for (int p = 0; p < kAtOnce; ++p) {
      if (i + p * kWorkers < pieces) to[i + p * kWorkers] = loaded[p];
    }
  }
}

/// Without calls, so that it keeps to the registers which are its own.
__device__ __noinline__ inline void copyWhole(const TeamOrder& order) {
  const MoveOperands& operands = blockShared().operands;
  const PreparedCopies& copies = *order.copies;
  const uint32_t apart = kWorkers / copies.count / 32 * 32;  // whole warps
  uint32_t first = threadIdx.x;
#pragma unroll 1
  for (uint32_t i = 0; i < copies.count; ++i) {
    copyPieces(static_cast<const uint4*>(operands.sources[i]), static_cast<uint4*>(operands.destinations[i]),
               copies.copies[i].elements * sizeOf(order.type) / 16, first);
    first += first < apart ? kWorkers - apart : -apart;
  }
}

__device__ __noinline__ inline void copyRagged(const TeamOrder& order) {
  const MoveOperands& operands = blockShared().operands;
  const PreparedCopies& copies = *order.copies;
  for (uint32_t i = 0; i < copies.count; ++i) {
    copyBytes({&operands.sources[i], 1, &operands.destinations[i], 1, copies.copies[i].elements}, sizeOf(order.type));
  }
}

}  // namespace prepared

__device__ inline void carryOutCopies(const TeamOrder& order) {
  const bool isWhole = isUnanimous(prepared::placeEnd(order));
  if (order.copies->count == 0) return;
  isWhole ? prepared::copyWhole(order) : prepared::copyRagged(order);
}

}  // namespace dfccl::gpu

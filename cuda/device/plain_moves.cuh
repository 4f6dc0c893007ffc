#pragma once
// The commonest moves, in so few instructions that they are soon there: whole aligned 16-byte pieces, of which a copy
// has any type, and a reduction is a sum of up to four floats. One thread's first pass through a function waits for
// each of its cache lines; by way of the switches over types and operators, a move of 4 KB took 3 us more. The bits
// are those of numeric/element.hpp, as everywhere.
#include "numeric/element.hpp"
#include "reduce_copy.cuh"

namespace dfccl::gpu {
namespace plain {

inline constexpr int kMostSources = 4;

/// Whether all operands begin and end at 16-byte boundaries.
__device__ inline bool isWhole(const ReduceCopyArgs& args, uint32_t elementBytes) {
  uint64_t places = args.count * elementBytes;
#pragma unroll 1
  for (int s = 0; s < args.sourceCount; ++s) places |= reinterpret_cast<uint64_t>(args.sources[s]);
#pragma unroll 1
  for (int d = 0; d < args.destinationCount; ++d) places |= reinterpret_cast<uint64_t>(args.destinations[d]);
  return places % 16 == 0;
}

__device__ inline uint32_t addBits(uint32_t a, uint32_t b) {
  return __float_as_uint(__fadd_rn(__uint_as_float(a), __uint_as_float(b)));
}
__device__ inline void add(uint4& to, const uint4& other) {
  to = {addBits(to.x, other.x), addBits(to.y, other.y), addBits(to.z, other.z), addBits(to.w, other.w)};
}
__device__ inline uint32_t canonical(uint32_t bits) {
  return __float_as_uint(element::withCanonicalNan(__uint_as_float(bits)));
}
__device__ inline uint4 canonical(const uint4& v) {
  return {canonical(v.x), canonical(v.y), canonical(v.z), canonical(v.w)};
}

/// `kCount` pieces a worker.
template <bool isSum, int kCount>
__device__ inline void move(const ReduceCopyArgs& args, uint64_t piece) {
  constexpr int kSources = isSum ? kMostSources : 1;
  uint4 loaded[kSources][kCount];
#pragma unroll
  for (int s = 0; s < kSources; ++s) {
    if (s >= args.sourceCount) break;
    const uint4* const from = static_cast<const uint4*>(args.sources[s]) + piece;
#pragma unroll
    for (int p = 0; p < kCount; ++p) loaded[s][p] = loadPiece(from + p * kWorkers);
  }
#pragma unroll
  for (int s = 1; s < kSources; ++s) {
    if (s >= args.sourceCount) break;
#pragma unroll
    for (int p = 0; p < kCount; ++p) add(loaded[0][p], loaded[s][p]);
  }
#pragma unroll
  for (int p = 0; p < kCount && isSum; ++p) loaded[0][p] = canonical(loaded[0][p]);
#pragma unroll 1
  for (int d = 0; d < args.destinationCount; ++d) {
    uint4* const to = static_cast<uint4*>(args.destinations[d]) + piece;
#pragma unroll
    for (int p = 0; p < kCount; ++p) to[p * kWorkers] = loaded[0][p];
  }
}

/// A function of its own, without calls, so that it keeps to the registers which are its own.
template <bool isSum, int kCount>
__device__ __noinline__ void moveAll(const ReduceCopyArgs& args, uint64_t pieces) {
  uint64_t i = threadIdx.x;
#pragma unroll 1
  for (; i + (kCount - 1) * kWorkers < pieces; i += uint64_t{kCount} * kWorkers) move<isSum, kCount>(args, i);
#pragma unroll 1
  for (; i < pieces; i += kWorkers) move<isSum, 1>(args, i);
}

}  // namespace plain

/// @pre plain::isWhole(). @return whether it was one of these.
__device__ inline bool movePlainly(DataType type, ReduceOp op, const ReduceCopyArgs& args) {
  const uint32_t bytes = sizeOf(type);
  if (args.sourceCount == 1) {
    const bool isCopy = args.divisor <= 1 && (op != ReduceOp::scaledSum || args.scales == nullptr);
    if (!isCopy) return false;
    plain::moveAll<false, 8>(args, args.count * bytes / 16);
    return true;
  }
  const bool isSum = type == DataType::float32 && op == ReduceOp::sum && args.sourceCount <= plain::kMostSources;
  if (!isSum) return false;
  const uint64_t pieces = args.count * bytes / 16;
  // More in flight where there is much to move, for which more has to be kept.
  if (pieces >= 16 * kWorkers) {
    plain::moveAll<true, 4>(args, pieces);
  } else {
    plain::moveAll<true, 2>(args, pieces);
  }
  return true;
}

}  // namespace dfccl::gpu

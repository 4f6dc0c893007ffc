#pragma once
// A reduce-copy by the workers of a block, in the way that is quickest for it.
#include "plain_moves.cuh"
#include "typed_moves.cuh"
#include "with_type.cuh"

namespace dfccl::gpu {

/// Out of line, as all that is seldom done, or takes long: what the short moves need lies together.
__device__ __noinline__ inline void reduceCopyAny(DataType type, ReduceOp op, const ReduceCopyArgs& args) {
  const bool isScaled = op == ReduceOp::scaledSum && args.scales != nullptr;
  const bool isDivided = op == ReduceOp::avg && args.divisor > 1;
  if (args.sourceCount == 1 && !isScaled && !isDivided) return copyBytes(args, sizeOf(type));
  withType(type, [&]<class T>() { TypedMoves<T>::reduceCopy(op, args); });
}

/// @param isWhole plain::isWhole().
__device__ inline void movePlainOrAny(DataType type, ReduceOp op, const ReduceCopyArgs& args, bool isWhole) {
  if (!isWhole || !movePlainly(type, op, args)) reduceCopyAny(type, op, args);
}

}  // namespace dfccl::gpu

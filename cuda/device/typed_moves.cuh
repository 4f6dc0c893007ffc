#pragma once
// What moves and reduces, for each type in a translation unit of its own: they are what takes nvcc its time.
#include "base/reduce_copy.hpp"
#include "daemon/state/exchange.hpp"

namespace dfccl::gpu {

/// Moves of one type, by all workers of a block.
template <class T>
struct TypedMoves {
  static __device__ void reduceCopy(ReduceOp op, const ReduceCopyArgs& args);
  /// Reduces the parts of an exchange if all of them are there. @return whether they are: the same for every worker.
  static __device__ bool reduceParts(ReduceOp op, const Exchange& exchange);
  /// A line of every member's, by one worker. @return the reduced line.
  static __device__ uint64_t foldLine(const Exchange& exchange, const uint64_t* parts);
};

/// One source, bit for bit.
__device__ void copyBytes(const ReduceCopyArgs& args, uint32_t elementBytes);

}  // namespace dfccl::gpu

#pragma once
// The one arithmetic kernel of the engine: dst_j[i] = finish(reduce over k of scale_k * src_k[i]).
#include <cstddef>

#include "dfccl/types.hpp"

namespace dfccl {

/// Arguments of one reduce-copy. Sources are read in order (bits depend on it for floats); destinations all get the same
/// bits. A destination may equal a source exactly; it must not overlap one otherwise.
struct ReduceCopyArgs {
  const void* const* sources;
  int sourceCount;  // >= 1; 1 is a copy (with scale and finish, if asked for)
  void* const* destinations;
  int destinationCount;  // >= 1
  size_t count;          // elements; 0 is allowed
  // Scalar of each source for ReduceOp::scaledSum, or nullptr: no scaling. NaN-free doubles; 1.0 leaves a source as it is.
  const double* scales = nullptr;
  // For ReduceOp::avg: divide the reduced value by this number of ranks. 0 or 1: leave it.
  uint32_t divisor = 0;
};

/// Reduces and copies with the best kernel of this CPU (chosen once at run time).
/// Semantics, the same in every kernel: integers wrap; avg of integers truncates towards zero; float16, bfloat16 and
/// float8 are widened to float32, reduced over all sources, and rounded once (nearest even; float8 saturates to finite,
/// as CUDA's conversion does); min and max propagate NaN and order -0 below +0.
void reduceCopy(DataType type, ReduceOp op, const ReduceCopyArgs& args);

/// The plain loop that defines reduceCopy's bits; the tests compare every kernel against it.
void reduceCopyReference(DataType type, ReduceOp op, const ReduceCopyArgs& args);

/// Name of the kernel family in use: "avx512", "avx2", "neon" or "scalar".
const char* reduceCopyKernelName();

}  // namespace dfccl

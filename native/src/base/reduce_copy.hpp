#pragma once
// The one arithmetic kernel of the engine: dst_j[i] = finish(reduce over k of scale_k * src_k[i]).
#include <cstddef>
#include <cstdint>

#include "base/types.hpp"

namespace dfccl {

/// How destinations are written; only speed depends on it.
enum class Stores : uint8_t {
  byWorkingSet,  // around the caches, if what the collective touches can't stay in the last of them
  cached,
  around,
  aroundUnordered,  // ... and who calls calls orderStores() before anybody is told of the results
};

/// Arguments of one reduce-copy. Sources are read in order (bits depend on it for floats); destinations all get the
/// same bits. A destination may equal a source exactly; it must not overlap one otherwise. No pointer needs any
/// alignment.
struct ReduceCopyArgs {
  const void* const* sources;
  int sourceCount;  // >= 1; 1 is a copy (with scale and finish, if asked for)
  void* const* destinations;
  int destinationCount;  // >= 1
  size_t count;          // elements; 0 is allowed
  // Scalar of each source for ReduceOp::scaledSum (other operators ignore it), or nullptr: no scaling. NaN-free
  // doubles; 1.0 leaves a source as it is.
  const double* scales = nullptr;
  // For ReduceOp::avg (others ignore it): divide the reduced value by this number of ranks. 0 or 1: leave it.
  uint32_t divisor = 0;
  // Bytes that the whole collective touches on this machine, over all ranks; 0 = unknown. Only speed depends on it.
  size_t workingSetBytes = 0;
};

/// Reduces and copies with the best kernel of this CPU (chosen once at run time).
/// Semantics, the same in every kernel, bit for bit:
/// - One source with nothing to scale or divide is a copy of its bits, whatever they mean.
/// - Integers wrap; avg divides the wrapped sum and truncates towards zero; a scale is truncated towards zero and
///   saturated to the type before it multiplies.
/// - float16, bfloat16 and float8 are widened to float32, reduced over all sources, and rounded once (nearest even;
///   float8 saturates to finite, infinities included, as CUDA's conversion does). Their scales are float32.
/// - min and max propagate NaN and order -0 below +0.
/// - A NaN result is always the same one: positive, all fraction bits set.
void reduceCopy(DataType type, ReduceOp op, const ReduceCopyArgs& args, Stores stores = Stores::byWorkingSet);

/// What this thread stored around the caches comes before all that it stores from here on.
void orderStores();

/// The plain loop that defines reduceCopy's bits; the tests compare every kernel against it.
void reduceCopyReference(DataType type, ReduceOp op, const ReduceCopyArgs& args);

/// Name of the kernel family in use: "avx512", "avx2", "sse2", "neon" or "portable".
const char* reduceCopyKernelName();

}  // namespace dfccl

#pragma once
// What one set of vector instructions offers: a table of kernels, and the calls they take.
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/reduce_copy.hpp"

namespace dfccl::reduce_copy {

/// One stretch of a reduce-copy: elements [sourceOffset, sourceOffset + count) of every source go to
/// [destinationOffset, ...) of every destination.
struct KernelCall {
  const void* const* sources;
  void* const* destinations;
  const double* scales;  // read by scaledSum only
  size_t sourceOffset;
  size_t destinationOffset;
  size_t count;  // >= 1
  int sourceCount;
  int destinationCount;
  uint32_t divisor;  // read by sum of floating-point types only; 0 or 1: leave the sum
};

/// Reads element i of all sources before it writes element i of any destination, so both may be the same memory.
using ReduceKernel = void (*)(const KernelCall& call);

/// Divides `count` integers in place.
using DivideKernel = void (*)(void* data, size_t count, uint32_t divisor);

/// Copies past the cache; a fence must follow before another thread is told. Regions don't overlap.
using StreamKernel = void (*)(void* destination, const void* source, size_t bytes);

struct KernelFamily {
  const char* name;
  bool (*isSupported)();
  ReduceKernel reduce[kDataTypeCount][kReduceOpCount];  // avg: the entry of sum; nullptr: bits of floats
  DivideKernel divide[kDataTypeCount];                  // nullptr for floating-point types
  StreamKernel stream;                                  // nullptr: this family has none
  void (*streamFence)();
};

/// The families that this build holds and this CPU runs, best first; at least one.
std::span<const KernelFamily* const> availableFamilies();

}  // namespace dfccl::reduce_copy

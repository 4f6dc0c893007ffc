#pragma once
// One reduce-copy with a given family and strategy: what reduceCopy() calls, and what tests and benchmarks compare.
#include "kernel_family.hpp"
#include "strategy.hpp"

namespace dfccl::reduce_copy {

/// Chooses a strategy from the arguments.
void executeWith(const KernelFamily& family, DataType type, ReduceOp op, const ReduceCopyArgs& args,
                 Stores stores = Stores::byWorkingSet);

/// @param strategy Streamed becomes staged where the family can't stream. Copies are staged in their own way, and
///   averages of integers always, because they are divided there.
void executeWith(const KernelFamily& family, Strategy strategy, DataType type, ReduceOp op, const ReduceCopyArgs& args);

}  // namespace dfccl::reduce_copy

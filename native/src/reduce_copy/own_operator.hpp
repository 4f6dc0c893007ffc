#pragma once
#include "base/own_operators.hpp"
#include "base/reduce_copy.hpp"

namespace dfccl::reduce_copy {

/// reduceCopy() of several sources by an operator of the caller's own.
void reduceByOwn(const OwnOperator& own, DataType type, const ReduceCopyArgs& args);

}  // namespace dfccl::reduce_copy

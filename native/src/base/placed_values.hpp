#pragma once
#include "dfccl/dfccl.h"

namespace dfccl {

/// What combines them. @return null: there is none of that name.
dfcclReduceFunction_t functionOf(dfcclPlacedOp_t op);

}  // namespace dfccl

#pragma once
#include <ATen/ATen.h>

#include "group.hpp"

namespace dfccl_torch {

/// DFCCL_NAN_CHECK=1: as TORCH_NCCL_NAN_CHECK, for finding the rank that NaN comes from. On a GPU the host waits for
/// the stream; what a graph captures isn't looked at.
/// @param operation for which the tensor is this rank's input.
/// @throws DistBackendError where it has NaN, before anything of the operation has begun.
void checkForNan(const at::Tensor& input, const char* operation, const Group& group);

}  // namespace dfccl_torch

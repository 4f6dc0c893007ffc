#pragma once
#include <ATen/ATen.h>

#include <memory>

#include "world.hpp"

namespace dfccl_torch {

/// A tensor of one dimension in memory that the other ranks reach: what is sent from it, or received into it, isn't
/// copied. It may outlive its process group, and keeps the world of the ranks until then.
/// @param options of a CPU. @throws DistBackendError where there is no such memory left.
at::Tensor reachableTensor(std::shared_ptr<World> world, int64_t size, const at::TensorOptions& options);

}  // namespace dfccl_torch

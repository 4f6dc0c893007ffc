#pragma once
#include <memory>

#include "world/backend.hpp"

namespace dfccl {

/// Opens a world of the kind that its options name. @throws Error
std::unique_ptr<Backend> openBackend(const WorldOptions& options);

}  // namespace dfccl

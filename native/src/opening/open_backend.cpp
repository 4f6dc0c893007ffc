#include "opening/open_backend.hpp"

#include "cpu/cpu_world.hpp"
#include "world/gpu_backend.hpp"

namespace dfccl {

std::unique_ptr<Backend> openBackend(const WorldOptions& options) {
  if (options.backend == BackendKind::cuda) return openGpuBackend(options);
  return std::make_unique<CpuWorld>(options);
}

}  // namespace dfccl

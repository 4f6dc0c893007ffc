// For binaries that are built without CUDA.
#include "world/gpu_backend.hpp"

namespace dfccl {
namespace {

Error notBuilt() {
  return {dfcclUnavailable,
          "This build of dfccl has no GPU engine.",
          "Install @dfccl/native-linux-x64-gnu-cuda, or build the target dfccl_cuda_product where nvcc is.",
          {{"backend", "cuda"}}};
}

}  // namespace

GpuReport reportGpus() {
  GpuReport report;
  report.obstacle = notBuilt();
  return report;
}

uint32_t roomForRunsOn(int) { return 0; }

void prepareGpu(const WorldOptions&, uint32_t) { throw notBuilt(); }

std::unique_ptr<Backend> openGpuBackend(const WorldOptions&) { throw notBuilt(); }

}  // namespace dfccl

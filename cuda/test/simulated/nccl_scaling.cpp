// What cuda/nccl_api/scaling.cu is on GPUs.
#include "nccl_api/scaling.hpp"

#include "nccl_api/scale_elements.hpp"
#include "simulated/modules.hpp"

namespace dfccl::nccl {
namespace {

constexpr int kModule = 1000;  // no test's

}  // namespace

cudaError_t scaleOnStream(void* to, const void* from, size_t count, const Scalar& scalar, cudaStream_t stream) {
  const ScaledElements elements{to, from, count, static_cast<DataType>(scalar.type), scalar.bits, scalar.onDevice};
  return gpu::simulated::launchUserKernel(stream, kModule, [elements] { scaleElements(elements, 0, 1); });
}

}  // namespace dfccl::nccl

#include "nccl_api/universe/scaling.hpp"

#include <algorithm>

#include "nccl_api/universe/scale_elements.hpp"

namespace dfccl::nccl {
namespace {

constexpr uint32_t kThreads = 256;
constexpr uint64_t kMostBlocks = 1024;

__global__ void __launch_bounds__(kThreads) scale(ScaledElements elements) {
  scaleElements(elements, uint64_t{blockIdx.x} * blockDim.x + threadIdx.x, uint64_t{gridDim.x} * blockDim.x);
}

}  // namespace

cudaError_t scaleOnStream(void* to, const void* from, size_t count, const Scalar& scalar, cudaStream_t stream) {
  ScaledElements elements{to, from, count, static_cast<DataType>(scalar.type), scalar.bits, scalar.onDevice};
  const uint64_t blocks = std::clamp<uint64_t>((count + kThreads - 1) / kThreads, 1, kMostBlocks);
  void* arguments[] = {&elements};
  // Not <<<>>>, which says only by cudaGetLastError() whether it went well: an earlier error is the caller's.
  return cudaLaunchKernel(reinterpret_cast<const void*>(scale), dim3(static_cast<uint32_t>(blocks)), dim3(kThreads),
                          arguments, 0, stream);
}

}  // namespace dfccl::nccl

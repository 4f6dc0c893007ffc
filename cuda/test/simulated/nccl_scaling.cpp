// What cuda/nccl_api/universe/scaling.cu is on GPUs.
#include "simulated/nccl_scaling.hpp"

#include <atomic>

#include "nccl_api/universe/scale_elements.hpp"
#include "nccl_api/universe/scaling.hpp"
#include "simulated/modules.hpp"

namespace dfccl::nccl {
namespace {

constexpr int kModule = 1000;  // no test's

std::atomic<uint32_t> done{0};

}  // namespace

cudaError_t scaleOnStream(void* to, const void* from, size_t count, const Scalar& scalar, cudaStream_t stream) {
  const ScaledElements elements{to, from, count, static_cast<DataType>(scalar.type), scalar.bits, scalar.onDevice};
  return gpu::simulated::launchUserKernel(stream, kModule, [elements] {
    scaleElements(elements, 0, 1);
    if (elements.count != 0) done.fetch_add(1);
  });
}

uint32_t test::scalings() { return done.load(); }

}  // namespace dfccl::nccl

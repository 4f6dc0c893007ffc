#include "device/reduce_copy.cuh"

namespace dfccl::gpu {

__device__ void reduceCopyBfloat16(ReduceOp op, const ReduceCopyArgs& args) { reduceCopyOf<BFloat16>(op, args); }

}  // namespace dfccl::gpu

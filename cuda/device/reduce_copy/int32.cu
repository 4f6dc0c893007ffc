#include "device/reduce_copy.cuh"

namespace dfccl::gpu {

__device__ void reduceCopyInt32(ReduceOp op, const ReduceCopyArgs& args) { reduceCopyOf<int32_t>(op, args); }

}  // namespace dfccl::gpu

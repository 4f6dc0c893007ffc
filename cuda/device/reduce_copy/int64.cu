#include "device/reduce_copy.cuh"

namespace dfccl::gpu {

__device__ void reduceCopyInt64(ReduceOp op, const ReduceCopyArgs& args) { reduceCopyOf<int64_t>(op, args); }

}  // namespace dfccl::gpu

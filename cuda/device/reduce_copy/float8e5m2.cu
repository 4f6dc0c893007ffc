#include "device/reduce_copy.cuh"

namespace dfccl::gpu {

__device__ void reduceCopyFloat8e5m2(ReduceOp op, const ReduceCopyArgs& args) { reduceCopyOf<Float8E5M2>(op, args); }

}  // namespace dfccl::gpu

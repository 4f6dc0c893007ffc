#include "device/reduce_copy.cuh"

namespace dfccl::gpu {

__device__ void reduceCopyFloat8e4m3(ReduceOp op, const ReduceCopyArgs& args) { reduceCopyOf<Float8E4M3>(op, args); }

}  // namespace dfccl::gpu

#include "device/reduce_copy.cuh"

namespace dfccl::gpu {

__device__ void reduceCopyFloat64(ReduceOp op, const ReduceCopyArgs& args) { reduceCopyOf<double>(op, args); }

}  // namespace dfccl::gpu

#include "device/reduce_copy.cuh"

namespace dfccl::gpu {

__device__ void reduceCopyFloat32(ReduceOp op, const ReduceCopyArgs& args) { reduceCopyOf<float>(op, args); }

}  // namespace dfccl::gpu

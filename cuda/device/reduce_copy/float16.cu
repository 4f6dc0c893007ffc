#include "device/reduce_copy.cuh"

namespace dfccl::gpu {

__device__ void reduceCopyFloat16(ReduceOp op, const ReduceCopyArgs& args) { reduceCopyOf<Float16>(op, args); }

}  // namespace dfccl::gpu

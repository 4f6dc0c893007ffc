#include "device/reduce_copy.cuh"

namespace dfccl::gpu {

__device__ void reduceCopyInt8(ReduceOp op, const ReduceCopyArgs& args) { reduceCopyOf<int8_t>(op, args); }

}  // namespace dfccl::gpu

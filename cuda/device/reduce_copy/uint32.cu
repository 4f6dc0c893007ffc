#include "device/reduce_copy.cuh"

namespace dfccl::gpu {

__device__ void reduceCopyUint32(ReduceOp op, const ReduceCopyArgs& args) { reduceCopyOf<uint32_t>(op, args); }

}  // namespace dfccl::gpu

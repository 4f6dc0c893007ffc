#include "device/reduce_copy.cuh"

namespace dfccl::gpu {

__device__ void reduceCopyUint8(ReduceOp op, const ReduceCopyArgs& args) { reduceCopyOf<uint8_t>(op, args); }

}  // namespace dfccl::gpu

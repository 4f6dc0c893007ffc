#include "device/reduce_copy.cuh"

namespace dfccl::gpu {

__device__ void reduceCopyUint64(ReduceOp op, const ReduceCopyArgs& args) { reduceCopyOf<uint64_t>(op, args); }

}  // namespace dfccl::gpu

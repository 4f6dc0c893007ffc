#include "device/typed_moves_of.cuh"

namespace dfccl::gpu {

template struct TypedMoves<BFloat16>;

}  // namespace dfccl::gpu

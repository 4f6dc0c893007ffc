#include "device/typed_moves_of.cuh"

namespace dfccl::gpu {

template struct TypedMoves<int32_t>;

}  // namespace dfccl::gpu

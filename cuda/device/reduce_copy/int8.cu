#include "device/typed_moves_of.cuh"

namespace dfccl::gpu {

template struct TypedMoves<int8_t>;

}  // namespace dfccl::gpu

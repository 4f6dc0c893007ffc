#include "device/typed_moves_of.cuh"

namespace dfccl::gpu {

template struct TypedMoves<uint8_t>;

}  // namespace dfccl::gpu

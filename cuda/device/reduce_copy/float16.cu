#include "device/typed_moves_of.cuh"

namespace dfccl::gpu {

template struct TypedMoves<Float16>;

}  // namespace dfccl::gpu

#include "device/typed_moves_of.cuh"

namespace dfccl::gpu {

template struct TypedMoves<Float8E4M3>;

}  // namespace dfccl::gpu

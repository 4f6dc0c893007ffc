#include "device/typed_moves_of.cuh"

namespace dfccl::gpu {

template struct TypedMoves<Float8E5M2>;

}  // namespace dfccl::gpu

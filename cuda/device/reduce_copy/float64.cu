#include "device/typed_moves_of.cuh"

namespace dfccl::gpu {

template struct TypedMoves<double>;

}  // namespace dfccl::gpu

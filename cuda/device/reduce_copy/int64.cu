#include "device/typed_moves_of.cuh"

namespace dfccl::gpu {

template struct TypedMoves<int64_t>;

}  // namespace dfccl::gpu

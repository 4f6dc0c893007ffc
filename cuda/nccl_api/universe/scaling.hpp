#pragma once
// A rank's input times its scalar, before it is added to the others'.
#include "nccl_api/universe/scaled_sums.hpp"

namespace dfccl::nccl {

/// Multiplies so many elements, of the scalar's type, when the stream comes to it. @param to may be `from`.
/// @pre the stream's device is current. @return what CUDA says of it.
cudaError_t scaleOnStream(void* to, const void* from, size_t count, const Scalar& scalar, cudaStream_t stream);

}  // namespace dfccl::nccl

#pragma once
#include <cuda_runtime_api.h>

#include <cstdint>

#include "base/error.hpp"

namespace dfccl::gpu {

/// Lets a stream store into memory of the device's or mapped memory of the host's, behind all that it was given before.
/// Unlike a launch it is done at once also while another thread keeps the driver to itself (measured, decision 23).
/// @throws Error dfcclUnavailable where the driver has no such call, dfcclSystemError
void storeOnStream(cudaStream_t stream, void* word, uint32_t value);

/// Lets a stream do what it is given afterwards only when a word of the device's memory has come to `value`, counted
/// round its wrap. As storeOnStream. @throws Error the same
void waitOnStreamFor(cudaStream_t stream, const void* word, uint32_t value);

}  // namespace dfccl::gpu

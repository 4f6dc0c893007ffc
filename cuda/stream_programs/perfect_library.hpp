#pragma once
#include "stream_programs/generate.hpp"

namespace dfccl::gpu::programs {

/// Whether a program ends on a device that does the worst CUDA may do, with a library that does what it promises: a run
/// completes once all its ranks have come to it, and nothing but that is needed for it. The worst: everything that is
/// given to a device goes through one queue, in order; calls that may wait for an idle device do, and keep the other
/// ranks of their process out meanwhile. So a program that hangs although this says true is not to blame itself.
/// @param interleaving a seed: in what order ranks and devices make their steps
bool endsWithPerfectLibrary(const Program& program, const Shape& shape, uint64_t interleaving);

}  // namespace dfccl::gpu::programs

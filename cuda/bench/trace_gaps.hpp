#pragma once
#include <string>

#include "host/rank/gpu_rank.hpp"

namespace dfccl::gpu::bench {

/// Of a device's multiprocessors.
double nanosPerCycleOf(int device);

/// The gaps between one point of a block's trace and the next, a JSON object: "from > to": [times, median in
/// nanoseconds]. Of the newer half of the ring.
std::string gapsJson(GpuRank& rank, double nanosPerCycle, uint32_t block);

/// The last so many moments of a block, a line each: nanoseconds since the one before, and what.
std::string lastMoments(GpuRank& rank, double nanosPerCycle, uint32_t block, size_t count);

}  // namespace dfccl::gpu::bench

#pragma once
#include <string>

#include "host/gpu_rank.hpp"

namespace dfccl::gpu::bench {

/// Of a device's multiprocessors.
double nanosPerCycleOf(int device);

/// The gaps between one point of the leader's block's trace and the next, a JSON object: "from > to": [times, median in
/// nanoseconds]. Of the newer half of the ring.
std::string gapsJson(GpuRank& leader, double nanosPerCycle);

}  // namespace dfccl::gpu::bench

// Where the time of one collective goes on the device: the daemon's own trace, gap by gap.
#include <cstdio>

#include "bench/timing.hpp"
#include "bench/trace_gaps.hpp"

namespace dfccl::gpu::bench {
int runPhases(const Arguments& arguments) {
  Bed bed(arguments);
  const size_t largest = arguments.number("--max-bytes", size_t{1} << 20);
  const uint64_t rounds = arguments.number("--iterations", 300);
  RankBuffers send = buffersOf(bed, largest), recv = buffersOf(bed, largest);
  uint32_t id = 0;
  for (size_t bytes = 8; bytes <= largest; bytes *= 16) {
    const Prepared prepared = prepareSum(bed, send, ++id, bytes);
    const double middle = median(timeOneAtATime(bed, prepared, send, recv, rounds, 0));
    for (uint32_t r = 0; r < bed.ranks(); ++r) {
      std::printf("{\"bench\":\"phases\",\"bytes\":%zu,\"rank\":%u,\"medianUs\":%.2f,\"gapsNs\":%s}\n", bytes, r,
                  middle, gapsJson(bed.world().rank(r), nanosPerCycleOf(bed.device(r)), 0).c_str());
    }
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace dfccl::gpu::bench

// The trace that is always on, as the host reads it.
#include "host/world/gpu_world.hpp"

namespace dfccl::gpu {

std::vector<TraceTrack> GpuWorld::readTrace(uint32_t rank) {
  GpuRank& mine = *ranks_[rank];
  int kilohertz = 0;
  DFCCL_CUDA(cudaDeviceGetAttribute(&kilohertz, cudaDevAttrClockRate, mine.device()));
  const double nanosPerCycle = 1e6 / kilohertz;
  const std::vector<TraceRing> rings = mine.readTraces();
  const std::vector<BlockCounters> counters = mine.readCounters();
  const auto momentsOf = [](const TraceRing& ring) {
    std::vector<CycleMoment> moments;
    for (const TraceEvent& e : ring.events) {
      const uint64_t point = e.what & 0xff;
      if (e.clock == 0 || point == 0 || point >= kTracePointCount) continue;
      moments.push_back({e.clock, static_cast<TracePoint>(point), e.what >> 8});
    }
    return moments;
  };
  std::vector<TraceTrack> tracks;
  for (uint32_t block = 0; block < counters.size(); ++block) {
    tracks.push_back(
        {rank, "block " + std::to_string(block), onOneClock(momentsOf(rings[block]), nanosPerCycle), counters[block]});
  }
  // The polling warp is of the leader's block, so its clock is tied by what that block says.
  std::vector<CycleMoment> polled = momentsOf(rings.back());
  for (const CycleMoment& m : momentsOf(rings.front())) {
    if (m.point == TracePoint::entered || m.point == TracePoint::left) polled.push_back(m);
  }
  std::vector<TraceMoment> seen = onOneClock(polled, nanosPerCycle);
  std::erase_if(seen, [](const TraceMoment& m) { return m.point != TracePoint::submissionSeen; });
  tracks.push_back({rank, "submission queue", std::move(seen), {}});
  return tracks;
}

}  // namespace dfccl::gpu

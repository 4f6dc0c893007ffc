#pragma once
// What a daemon's always-on trace says, in nanoseconds of one clock for all blocks.
#include <cstdint>
#include <string>
#include <vector>

#include "daemon/state/counters.hpp"
#include "daemon/state/trace_point.hpp"

namespace dfccl {

struct TraceMoment {
  double nanos;
  TracePoint point;
  uint64_t value;  // see TracePoint
};

/// The moments of one block, or of one that polls for it, oldest first.
struct TraceTrack {
  uint32_t rank;
  std::string name;  // "block 3"
  std::vector<TraceMoment> moments;
  BlockCounters counters;
};

/// As a cycle counter tells them.
struct CycleMoment {
  uint64_t cycles;
  TracePoint point;
  uint64_t value;
};

/// Moments of one counter, in any order, as nanoseconds: what TracePoint::entered and left say ties them to the clock.
/// @param nanosPerCycle where a stay has no end yet, or is too short to tell. @return nothing where nothing ties them.
std::vector<TraceMoment> onOneClock(std::vector<CycleMoment> moments, double nanosPerCycle);

}  // namespace dfccl

#include "trace/trace_track.hpp"

#include <algorithm>
#include <optional>

namespace dfccl {
namespace {

/// A moment that both clocks tell.
struct Tie {
  double cycles, nanos;
};

// The nanoseconds come in steps of up to a microsecond, so of a shorter stay they tell no rate.
constexpr double kLeastNanos = 100'000;

}  // namespace

std::vector<TraceMoment> onOneClock(std::vector<CycleMoment> moments, double nanosPerCycle) {
  std::sort(moments.begin(), moments.end(),
            [](const CycleMoment& a, const CycleMoment& b) { return a.cycles < b.cycles; });
  std::vector<Tie> ties;
  for (const CycleMoment& m : moments) {
    if (m.point != TracePoint::entered && m.point != TracePoint::left) continue;
    ties.push_back({static_cast<double>(m.cycles), static_cast<double>(m.value)});
  }
  std::vector<TraceMoment> result;
  if (ties.empty()) return result;
  size_t next = 0;  // the first tie behind the moment
  for (const CycleMoment& m : moments) {
    const auto cycles = static_cast<double>(m.cycles);
    while (next < ties.size() && ties[next].cycles <= cycles) ++next;
    const Tie& near = ties[next == 0 ? 0 : next - 1];
    double rate = nanosPerCycle;
    if (next != 0 && next < ties.size() && ties[next].nanos - near.nanos >= kLeastNanos) {
      rate = (ties[next].nanos - near.nanos) / (ties[next].cycles - near.cycles);
    }
    result.push_back({near.nanos + (cycles - near.cycles) * rate, m.point, m.value});
  }
  return result;
}

}  // namespace dfccl

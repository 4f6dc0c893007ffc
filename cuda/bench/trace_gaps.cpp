#include "bench/trace_gaps.hpp"

#include <algorithm>
#include <cstdio>
#include <map>

#include "bench/timing.hpp"

namespace dfccl::gpu::bench {
namespace {

TracePoint pointOf(const TraceEvent& event) { return static_cast<TracePoint>(event.what & 0xff); }

const char* nameOf(TracePoint point) {
  static const char* const names[kTracePointCount] = {
      "none",           "entered",       "left",         "submission seen", "run taken",  "context loading",
      "context loaded", "context saved", "peers known",  "move ordered",    "move done",  "part done",
      "stuck",          "preempted",     "run finished", "posted",          "stream came"};
  const auto index = static_cast<int>(point);
  return index < kTracePointCount ? names[index] : "unknown";
}

/// The ring's events, oldest first.
std::vector<TraceEvent> inOrder(const TraceRing& ring) {
  std::vector<TraceEvent> events(ring.events, ring.events + kTraceEvents);
  std::erase_if(events, [](const TraceEvent& e) { return e.clock == 0; });
  std::sort(events.begin(), events.end(), [](const TraceEvent& a, const TraceEvent& b) { return a.clock < b.clock; });
  return events;
}

}  // namespace

double nanosPerCycleOf(int device) {
  int kilohertz = 0;
  DFCCL_CUDA(cudaDeviceGetAttribute(&kilohertz, cudaDevAttrClockRate, device));
  return 1e6 / kilohertz;
}

/// A block's, and the polling warp's for the leader's: they run on one multiprocessor, so on one clock.
std::vector<TraceEvent> momentsOf(GpuRank& rank, uint32_t block) {
  const std::vector<TraceRing> rings = rank.readTraces();
  std::vector<TraceEvent> events = inOrder(rings[block]);
  if (block == 0) {
    const std::vector<TraceEvent> polled = inOrder(rings.back());
    events.insert(events.end(), polled.begin(), polled.end());
    std::sort(events.begin(), events.end(), [](const TraceEvent& a, const TraceEvent& b) { return a.clock < b.clock; });
  }
  return events;
}

std::string lastMoments(GpuRank& rank, double nanosPerCycle, uint32_t block, size_t count) {
  const std::vector<TraceEvent> events = momentsOf(rank, block);
  std::string lines;
  for (size_t i = events.size() > count ? events.size() - count : 1; i < events.size(); ++i) {
    char text[128];
    std::snprintf(text, sizeof text, "%8.0f %s %llu\n",
                  static_cast<double>(events[i].clock - events[i - 1].clock) * nanosPerCycle,
                  nameOf(pointOf(events[i])), static_cast<unsigned long long>(events[i].what >> 8));
    lines += text;
  }
  return lines;
}

std::string gapsJson(GpuRank& rank, double nanosPerCycle, uint32_t block) {
  constexpr size_t kFewest = 20;  // of which a median is worth telling
  const std::vector<TraceEvent> events = momentsOf(rank, block);
  std::map<std::pair<TracePoint, TracePoint>, std::vector<double>> gaps;
  for (size_t i = events.size() / 2; i + 1 < events.size(); ++i) {
    gaps[{pointOf(events[i]), pointOf(events[i + 1])}].push_back(
        static_cast<double>(events[i + 1].clock - events[i].clock) * nanosPerCycle);
  }
  std::string json = "{";
  for (const auto& [points, nanos] : gaps) {
    if (nanos.size() < kFewest) continue;
    char text[128];
    std::snprintf(text, sizeof text, "%s\"%s > %s\":[%zu,%.0f]", json.size() == 1 ? "" : ",", nameOf(points.first),
                  nameOf(points.second), nanos.size(), median(nanos));
    json += text;
  }
  return json + "}";
}

}  // namespace dfccl::gpu::bench

// Where the time of one small collective goes on the device: the daemon's own trace, gap by gap. And the trace of a
// few disordered collectives, as a file that Perfetto opens.
#include <algorithm>
#include <cstdio>
#include <map>

#include "bench/harness.hpp"
#include "bench/trace_file.hpp"

namespace dfccl::gpu::bench {
namespace {

double middleOf(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// The ring's events, oldest first, without what a stay's first microseconds cost.
std::vector<TraceEvent> inOrder(const TraceRing& ring) {
  std::vector<TraceEvent> events(ring.events, ring.events + kTraceEvents);
  std::erase_if(events, [](const TraceEvent& e) { return e.clock == 0; });
  std::sort(events.begin(), events.end(), [](const TraceEvent& a, const TraceEvent& b) { return a.clock < b.clock; });
  return events;
}

}  // namespace

/// Medians of the gaps between one point of the leader's block and the next, in nanoseconds, over many runs of one
/// collective. The clock counts cycles: a stay's two ends tie it to time.
int runPhases(const Arguments& arguments) {
  Bed bed(arguments);
  const size_t largest = arguments.number("--max-bytes", size_t{1} << 20);
  const uint64_t rounds = arguments.number("--iterations", 300);
  std::vector<std::unique_ptr<Buffers>> send, recv;
  for (uint32_t r = 0; r < bed.ranks(); ++r) {
    send.push_back(std::make_unique<Buffers>(bed.device(r), largest));
    recv.push_back(std::make_unique<Buffers>(bed.device(r), largest));
  }
  uint32_t id = 0;
  for (size_t bytes = 8; bytes <= largest; bytes *= 16) {
    CollectiveSpec spec;
    spec.id = ++id;
    spec.count = bytes / sizeof(float);
    for (uint32_t r = 0; r < bed.ranks(); ++r) spec.ranks.push_back(r);
    std::vector<uint32_t> indices, slots(bed.ranks());
    for (uint32_t r = 0; r < bed.ranks(); ++r) {
      const OnDevice here(bed.device(r));
      indices.push_back(bed.world().registerCollective(r, spec));
    }
    std::vector<double> times;
    for (uint64_t i = 0; i < rounds; ++i) {
      const uint64_t begin = nowNanos();
      for (uint32_t r = 0; r < bed.ranks(); ++r) slots[r] = bed.submit(r, indices[r], send[r]->at(0), recv[r]->at(0));
      for (uint32_t r = 0; r < bed.ranks(); ++r) bed.await(r, slots[r]);
      times.push_back(static_cast<double>(nowNanos() - begin) * 1e-3);
    }
    const double nanosPerCycle = nanosPerCycleOf(bed.device(0));
    for (uint32_t r = 0; r < bed.ranks(); ++r) {
      std::vector<TraceRing> rings = bed.world().rank(r).readTraces();
      // The leader's block and its polling warp run on one multiprocessor, so on one clock.
      std::vector<TraceEvent> events = inOrder(rings.front());
      const std::vector<TraceEvent> polled = inOrder(rings.back());
      events.insert(events.end(), polled.begin(), polled.end());
      std::sort(events.begin(), events.end(),
                [](const TraceEvent& a, const TraceEvent& b) { return a.clock < b.clock; });
      std::map<std::pair<TracePoint, TracePoint>, std::vector<double>> gaps;
      for (size_t i = events.size() / 2; i + 1 < events.size(); ++i) {
        gaps[{pointOf(events[i]), pointOf(events[i + 1])}].push_back(
            static_cast<double>(events[i + 1].clock - events[i].clock) * nanosPerCycle);
      }
      std::printf("{\"bench\":\"phases\",\"bytes\":%zu,\"rank\":%u,\"medianUs\":%.2f,\"gapsNs\":{", bytes, r,
                  middleOf(times));
      const char* comma = "";
      for (const auto& [points, nanos] : gaps) {
        if (nanos.size() < 20) continue;
        std::printf("%s\"%s > %s\":[%zu,%.0f]", comma, nameOf(points.first), nameOf(points.second), nanos.size(),
                    middleOf(nanos));
        comma = ",";
      }
      std::printf("}}\n");
    }
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace dfccl::gpu::bench

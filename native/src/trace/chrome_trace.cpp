#include "trace/chrome_trace.hpp"

#include <algorithm>
#include <array>
#include <cstdarg>
#include <cstdio>
#include <limits>
#include <optional>

namespace dfccl {
namespace {

/// How a point is shown: the beginning or the end of a slice, or an instant.
struct Shown {
  const char* name;
  const char* value;  // of the moment; nullptr: it has none worth showing
  TracePoint endOf = TracePoint::none;
  bool begins = false;
};

constexpr std::array<Shown, kTracePointCount> kShown{{
    {"", nullptr},
    {"stay", nullptr, TracePoint::none, true},
    {"stay", nullptr, TracePoint::entered},
    {"submission seen", "position"},
    {"run taken", "collective"},
    {"context loading", "collective", TracePoint::none, true},
    {"context loading", "collective", TracePoint::contextLoading},
    {"context saved", "task"},
    {"peers known", "collective"},
    {"workers", "work", TracePoint::none, true},
    {"workers", "work", TracePoint::moveOrdered},
    {"part done", "collective"},
    {"stuck", "collective"},
    {"preempted", "collective"},
    {"run finished", "collective"},
    {"completion posted", "slot"},
    {"stream came", "line"},
}};

class Events {
 public:
  [[gnu::format(printf, 2, 3)]] void add(const char* format, ...) {
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    json_ += json_.empty() ? "\n" : ",\n";
    json_ += text;
  }
  std::string take() { return "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[" + std::move(json_) + "\n]}\n"; }

 private:
  std::string json_;
};

/// The events of one track. A ring keeps the newest moments, so what a slice began with may be gone, and the last may
/// not have ended: such slices begin with the track, or end with it.
class TrackWriter {
 public:
  TrackWriter(Events& events, const TraceTrack& track, uint32_t thread, double origin)
      : events_(events), track_(track), thread_(thread), origin_(origin) {}

  void write() {
    if (track_.moments.empty()) return;
    for (const TraceMoment& m : track_.moments) {
      const Shown& shown = kShown[static_cast<size_t>(m.point)];
      if (shown.begins) {
        open_[static_cast<size_t>(m.point)] = m;
      } else if (shown.endOf != TracePoint::none) {
        std::optional<TraceMoment>& begin = open_[static_cast<size_t>(shown.endOf)];
        writeSlice(shown, begin.value_or(track_.moments.front()), m.nanos, m.value);
        begin.reset();
      } else if (m.point != TracePoint::none) {
        events_.add(
            "{\"ph\":\"i\",\"s\":\"t\",\"pid\":%u,\"tid\":%u,\"ts\":%.3f,\"name\":\"%s\",\"args\":{\"%s\":%llu}}",
            track_.rank, thread_, micros(m.nanos), shown.name, shown.value, static_cast<unsigned long long>(m.value));
      }
    }
    for (size_t point = 0; point < open_.size(); ++point) {
      if (open_[point]) writeSlice(kShown[point], *open_[point], track_.moments.back().nanos, open_[point]->value);
    }
  }

 private:
  double micros(double nanos) const { return (nanos - origin_) * 1e-3; }

  void writeSlice(const Shown& shown, const TraceMoment& begin, double end, uint64_t value) {
    char arguments[64] = "";
    if (shown.value != nullptr) {
      std::snprintf(arguments, sizeof arguments, "\"%s\":%llu", shown.value, static_cast<unsigned long long>(value));
    }
    events_.add("{\"ph\":\"X\",\"pid\":%u,\"tid\":%u,\"ts\":%.3f,\"dur\":%.3f,\"name\":\"%s\",\"args\":{%s}}",
                track_.rank, thread_, micros(begin.nanos), std::max(0.0, (end - begin.nanos) * 1e-3), shown.name,
                arguments);
  }

  Events& events_;
  const TraceTrack& track_;
  const uint32_t thread_;
  const double origin_;
  std::array<std::optional<TraceMoment>, kTracePointCount> open_{};
};

std::string escaped(const std::string& name) {
  std::string text;
  for (const char c : name) {
    if (c == '"' || c == '\\') text += '\\';
    text += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return text;
}

}  // namespace

std::string chromeTrace(std::span<const TraceTrack> tracks) {
  double first = std::numeric_limits<double>::infinity(), last = 0;
  for (const TraceTrack& track : tracks) {
    if (track.moments.empty()) continue;
    first = std::min(first, track.moments.front().nanos);
    last = std::max(last, track.moments.back().nanos);
  }
  Events events;
  for (uint32_t thread = 0; thread < tracks.size(); ++thread) {
    const TraceTrack& track = tracks[thread];
    events.add("{\"ph\":\"M\",\"pid\":%u,\"name\":\"process_name\",\"args\":{\"name\":\"rank %u\"}}", track.rank,
               track.rank);
    events.add("{\"ph\":\"M\",\"pid\":%u,\"tid\":%u,\"name\":\"thread_name\",\"args\":{\"name\":\"%s\"}}", track.rank,
               thread, escaped(track.name).c_str());
    TrackWriter(events, track, thread, first).write();
    const BlockCounters& c = track.counters;
    if (c.visits.read() == 0 || track.moments.empty()) continue;
    events.add(
        "{\"ph\":\"C\",\"pid\":%u,\"tid\":%u,\"ts\":%.3f,\"name\":\"counters of %s\",\"args\":{\"visits\":%llu,"
        "\"stuckVisits\":%llu,\"preemptions\":%llu,\"contextLoads\":%llu,\"contextSaves\":%llu,\"meanQueueLength\":%."
        "3f,"
        "\"longestQueue\":%llu}}",
        track.rank, thread, (last - first) * 1e-3, escaped(track.name).c_str(),
        static_cast<unsigned long long>(c.visits.read()), static_cast<unsigned long long>(c.stuckVisits.read()),
        static_cast<unsigned long long>(c.preemptions.read()), static_cast<unsigned long long>(c.contextLoads.read()),
        static_cast<unsigned long long>(c.contextSaves.read()),
        static_cast<double>(c.queueLengthSum.read()) / static_cast<double>(c.visits.read()),
        static_cast<unsigned long long>(c.queueLengthMax.read()));
  }
  return events.take();
}

}  // namespace dfccl

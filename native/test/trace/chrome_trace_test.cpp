// A daemon's trace as a file for ui.perfetto.dev.
#include "trace/chrome_trace.hpp"

#include <doctest/doctest.h>

using namespace dfccl;

namespace {

constexpr double kNanosPerCycle = 0.5;

/// As a block of a GPU with 2 GHz would leave it in its ring: two stays, of which the second still goes on. The clock
/// began long before, and the ring has lapped, so its order is not the moments'.
std::vector<CycleMoment> recorded() {
  return {
      {7'000'100, TracePoint::entered, 5'000'000}, {7'000'300, TracePoint::runTaken, 4},
      {7'000'500, TracePoint::contextLoading, 4},  {1'000'000, TracePoint::entered, 2'000'000},
      {1'000'200, TracePoint::runTaken, 3},        {1'000'400, TracePoint::moveOrdered, 5},
      {1'002'400, TracePoint::moveDone, 5},        {1'002'600, TracePoint::preempted, 3},
      {1'003'000, TracePoint::runFinished, 3},     {1'003'200, TracePoint::completionPosted, 17},
      {1'400'000, TracePoint::left, 2'200'000},
  };
}

size_t countOf(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

}  // namespace

TEST_CASE("cycles become nanoseconds of the clock that the beginnings and ends of stays tell") {
  const std::vector<TraceMoment> moments = onOneClock(recorded(), kNanosPerCycle);
  REQUIRE(moments.size() == recorded().size());
  for (size_t i = 1; i < moments.size(); ++i) CHECK(moments[i - 1].nanos <= moments[i].nanos);
  CHECK(moments.front().nanos == 2'000'000);
  CHECK(moments[1].nanos == 2'000'100);
  CHECK(moments[7].point == TracePoint::left);
  CHECK(moments[7].nanos == 2'200'000);
  CHECK(moments.back().nanos == 5'000'200);  // by the rate that was given: the stay has no end
}

TEST_CASE("a stay's own clock rate counts, whatever the device promises") {
  const std::vector<TraceMoment> moments = onOneClock(
      {{0, TracePoint::entered, 0}, {100'000, TracePoint::runTaken, 1}, {200'000, TracePoint::left, 160'000}}, 0.5);
  CHECK(moments[1].nanos == doctest::Approx(80'000));
}

TEST_CASE("what came before the first beginning of a stay is there too, and nothing without one") {
  const std::vector<TraceMoment> moments =
      onOneClock({{1000, TracePoint::runTaken, 1}, {3000, TracePoint::left, 50'000}}, kNanosPerCycle);
  CHECK(moments.front().nanos == 49'000);
  CHECK(onOneClock({{1000, TracePoint::runTaken, 1}}, kNanosPerCycle).empty());
}

TEST_CASE("stays, orders and contexts are slices, everything else instants, in microseconds from the first") {
  TraceTrack track{1, "block \"0\"", onOneClock(recorded(), kNanosPerCycle), {}};
  track.counters.visits.add(4);
  track.counters.queueLengthSum.add(6);
  track.counters.preemptions.add(1);
  const TraceTrack empty{0, "block 0", {}, {}};
  const TraceTrack tracks[] = {empty, track};
  const std::string expected = R"({"displayTimeUnit":"ns","traceEvents":[
{"ph":"M","pid":0,"name":"process_name","args":{"name":"rank 0"}},
{"ph":"M","pid":0,"tid":0,"name":"thread_name","args":{"name":"block 0"}},
{"ph":"M","pid":1,"name":"process_name","args":{"name":"rank 1"}},
{"ph":"M","pid":1,"tid":1,"name":"thread_name","args":{"name":"block \"0\""}},
{"ph":"i","s":"t","pid":1,"tid":1,"ts":0.100,"name":"run taken","args":{"collective":3}},
{"ph":"X","pid":1,"tid":1,"ts":0.200,"dur":1.000,"name":"workers","args":{"work":5}},
{"ph":"i","s":"t","pid":1,"tid":1,"ts":1.300,"name":"preempted","args":{"collective":3}},
{"ph":"i","s":"t","pid":1,"tid":1,"ts":1.500,"name":"run finished","args":{"collective":3}},
{"ph":"i","s":"t","pid":1,"tid":1,"ts":1.600,"name":"completion posted","args":{"slot":17}},
{"ph":"X","pid":1,"tid":1,"ts":0.000,"dur":200.000,"name":"stay","args":{}},
{"ph":"i","s":"t","pid":1,"tid":1,"ts":3000.100,"name":"run taken","args":{"collective":4}},
{"ph":"X","pid":1,"tid":1,"ts":3000.000,"dur":0.200,"name":"stay","args":{}},
{"ph":"X","pid":1,"tid":1,"ts":3000.200,"dur":0.000,"name":"context loading","args":{"collective":4}},
{"ph":"C","pid":1,"tid":1,"ts":3000.200,"name":"counters of block \"0\"","args":{"visits":4,"stuckVisits":0,"preemptions":1,"contextLoads":0,"contextSaves":0,"meanQueueLength":1.500,"longestQueue":0}}
]}
)";
  std::string escaped = expected;
  // In the file the quotes of a name are escaped.
  for (size_t at = 0; (at = escaped.find("block \"0\"", at)) != std::string::npos; at += 11) {
    escaped.replace(at, 9, "block \\\"0\\\"");
  }
  CHECK(chromeTrace(tracks) == escaped);
}

TEST_CASE("a full ring of every point makes as many events, and every bracket is closed") {
  std::vector<CycleMoment> moments;
  for (uint64_t i = 0; i < 2048; ++i) {
    const auto point = static_cast<TracePoint>(1 + i * 7 % (kTracePointCount - 1));
    const bool isTie = point == TracePoint::entered || point == TracePoint::left;
    moments.push_back({1000 + 100 * i, point, isTie ? 50 * i : i});
  }
  const TraceTrack tracks[] = {{0, "block 0", onOneClock(moments, kNanosPerCycle), {}}};
  const std::string json = chromeTrace(tracks);
  CHECK(countOf(json, "{") == countOf(json, "}"));
  CHECK(countOf(json, "[") == countOf(json, "]"));
  CHECK(countOf(json, "\"ph\":\"i\"") > 1000);
  CHECK(countOf(json, "nan") == 0);
  CHECK(countOf(json, "-") == 0);  // no time before the first, no negative duration
}

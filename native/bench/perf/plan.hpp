#pragma once
// What a run of the collective tests is asked to do, from its command line and its file of cases.
#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "arguments.hpp"
#include "perf/backend.hpp"

namespace dfccl::bench {

enum class Blocking : uint8_t { never = 0, withBarrier = 1, each = 2 };
enum class FaultKind : uint8_t { none, flip, missing, swap, die };

/// Something wrong on purpose, on one rank: the test of the test.
struct Fault {
  FaultKind kind = FaultKind::none;
  uint32_t rank = 0;
};

struct Plan {
  Test test = Test::allReduce;
  uint32_t threads = 1;
  uint32_t ranksPerThread = 1;
  uint32_t processes = 1;
  uint32_t iterations = 20;
  uint32_t aggregated = 1;
  uint32_t warmUps = 1;
  uint32_t cycles = 1;  // 0: for ever
  uint32_t checks = 1;
  Blocking blocking = Blocking::never;
  Average average = Average::mean;
  bool perIteration = false;
  uint32_t skipped = 0;  // of the first iterations, in figures per iteration
  bool unaligned = false;
  uint32_t concurrent = 1;
  bool isRandomOrder = false;
  uint64_t seed = 1;
  int64_t delayedRank = -1;
  double delayMicros = 0;
  double timeoutSeconds = 0;
  bool takesTurns = false;
  Fault fault;
  std::vector<Case> cases;

  uint32_t localRanks() const { return threads * ranksPerThread; }
  uint32_t ranks() const { return localRanks() * processes; }
};

inline const std::vector<std::string> kPlanOptions = {
    "test",       "threads",       "ranks-per-thread",
    "iterations", "aggregated",    "warm-ups",
    "cycles",     "checks",        "blocking",
    "average",    "per-iteration", "skipped",
    "unaligned",  "concurrent",    "order",
    "seed",       "delay",         "timeout",
    "fault",      "cases",         "backend",
    "program",    "programs",      "in-place-program",
    "workers",    "probe",         "turns",
    "device",     "nccl",          "grid",
    "slot-bytes", "processes",
};

inline Test parseTest(const std::string& name) {
  for (size_t i = 0; i < kTestNames.size(); ++i) {
    if (name == kTestNames[i]) return static_cast<Test>(i);
  }
  throw PerfError(Exit::invalidUsage, "There is no test " + name + ".");
}

inline Fault parseFault(const std::string& text) {
  const std::vector<std::string> parts = split(text, ':');
  if (parts.empty()) return {};
  constexpr std::array<const char*, 5> kNames = {"none", "flip", "missing", "swap", "die"};
  for (size_t i = 0; i < kNames.size(); ++i) {
    if (parts[0] == kNames[i]) {
      return {static_cast<FaultKind>(i), parts.size() > 1 ? static_cast<uint32_t>(std::stoul(parts[1])) : 0};
    }
  }
  throw PerfError(Exit::invalidUsage, "There is no fault " + parts[0] + ".");
}

/// Lines of "count type op root [iterations [program]]", types and operators as numbers; "w" before it: a warm-up; "b":
/// what is not measured, but the buffers are to hold.
inline std::vector<Case> readCases(const std::string& path, Test test, uint32_t ranks) {
  std::ifstream file(path);
  if (!file) throw PerfError(Exit::invalidUsage, path + " can't be read. Look at the path.");
  std::vector<Case> cases;
  for (std::string line; std::getline(file, line);) {
    Case c;
    c.test = test;
    c.ranks = ranks;
    c.isWarmUp = line.starts_with("w");
    c.isForBuffers = line.starts_with("b");
    std::istringstream words(c.isWarmUp || c.isForBuffers ? line.substr(1) : line);
    uint32_t type = 0, op = 0;
    if (!(words >> c.count >> type >> op >> c.root) || type >= kDataTypeCount || op >= kReduceOpCount ||
        c.root >= ranks) {
      throw PerfError(Exit::invalidUsage, path + " has a line that is no case: " + line);
    }
    if (!(words >> c.iterations)) c.iterations = 0;
    if (!(words >> c.program)) c.program = 0;
    c.type = static_cast<DataType>(type);
    c.op = static_cast<ReduceOp>(op);
    cases.push_back(c);
  }
  return cases;
}

inline Plan parsePlan(const Arguments& a) {
  Plan p;
  const auto whole = [&](const char* name, uint32_t byDefault) {
    return static_cast<uint32_t>(a.number(name, byDefault));
  };
  p.test = parseTest(a.text("test", "all_reduce"));
  p.threads = std::max(1u, whole("threads", 1));
  p.ranksPerThread = std::max(1u, whole("ranks-per-thread", 1));
  p.processes = std::max(1u, whole("processes", 1));
  p.iterations = whole("iterations", 20);
  p.aggregated = std::max(1u, whole("aggregated", 1));
  p.warmUps = whole("warm-ups", 1);
  p.cycles = whole("cycles", 1);
  p.checks = whole("checks", 1);
  p.blocking = static_cast<Blocking>(std::min(2u, whole("blocking", 0)));
  p.average = static_cast<Average>(whole("average", 1));
  p.perIteration = whole("per-iteration", 0) != 0;
  p.skipped = whole("skipped", 0);
  p.unaligned = whole("unaligned", 0) != 0;
  p.concurrent = std::max(1u, whole("concurrent", 1));
  p.isRandomOrder = a.text("order", "same") == "random";
  p.seed = whole("seed", 1);
  const std::vector<std::string> delay = split(a.text("delay", ""), ':');
  if (delay.size() == 2) {
    p.delayedRank = std::stol(delay[0]);
    p.delayMicros = std::stod(delay[1]);
  }
  p.timeoutSeconds = a.number("timeout", 0);
  p.takesTurns = a.number("turns", 0) != 0;
  p.fault = parseFault(a.text("fault", ""));
  return p;
}

}  // namespace dfccl::bench

#include "world/selection.hpp"

#include <algorithm>
#include <bit>
#include <limits>

#include "world/builtin_programs.hpp"
#include "world/connected_programs.hpp"
#include "world/large_programs.hpp"

namespace dfccl {
namespace {

constexpr uint64_t kKiB = 1 << 10, kMiB = 1 << 20;

// ---- When a rule fits -------------------------------------------------------------------------------------------

bool always(const SelectionFacts&) { return true; }

bool isCaptured(const SelectionFacts& f) { return f.isCaptured; }

bool isSpread(const SelectionFacts& f) { return f.spansHosts; }

bool isLarge(const SelectionFacts& f) {
  // A pair's links are as quick when both read and write at once, and so there is nothing to wait for in between.
  if (f.collective == Collective::allReduce && f.ranks == 2) return false;
  return f.ranks > 1 && f.bytes >= 16 * kMiB && hasLargeProgram(f.collective);
}

// ---- On how many blocks -----------------------------------------------------------------------------------------

uint32_t one(const SelectionFacts&) { return 1; }

/// Powers of two only: on 31 blocks large ones take a fifth longer than on 32. What is left of the grid is the
/// leader's.
uint32_t within(const SelectionFacts& f, uint32_t lanes) { return std::min(lanes, std::bit_floor(f.grid)); }

constexpr uint32_t kMostExchangeLanes = 32;

uint32_t exchangeLanes(const SelectionFacts& f) {
  // A line for each of a block's workers, because a block sends no faster than they do; but telling others costs as
  // much as a second line.
  constexpr uint64_t kPerLane = 3584;
  if (f.bytes <= 2 * kPerLane) return within(f, 1);
  uint32_t lanes = 4;
  while (lanes * kPerLane < f.bytes && lanes < kMostExchangeLanes) lanes *= 2;
  return within(f, lanes);
}

/// A small all-reduce. Each rank sends all that it has to all others, of which a block does only so much before the
/// direct way, which meets and parts, is over: by measurement, two to eight ranks on four H200.
bool isExchanged(const SelectionFacts& f) {
  constexpr uint64_t kTooMuchSent = 448 * kKiB;  // by one rank to all others
  constexpr uint64_t kMostOfLane = 36 * kKiB, kMostOfAll = 960 * kKiB;
  if (f.collective != Collective::allReduce || f.ranks == 1) return false;
  // Between processes more is done to meet, and nobody has measured that beside this.
  if (f.mapsLate) return f.bytes * (f.ranks - 1) <= kTooMuchSent;
  const uint64_t most = std::min(kMostOfLane * within(f, kMostExchangeLanes), kMostOfAll);
  return f.bytes * (f.ranks - 1) < kTooMuchSent && f.bytes * (f.ranks + 2) <= most;
}

/// Each lane has slots of its own in the arena.
uint32_t connectedLanes(const SelectionFacts& f) {
  if (f.bytes <= kMiB) return 1;
  return f.bytes <= 4 * kMiB ? 2 : 4;
}

uint32_t largeLanes(const SelectionFacts& f) { return within(f, f.ranks == 2 ? 64 : 32); }

/// From where on 64 blocks move more than 32, by measurement.
uint64_t leastForMost(Collective collective, uint32_t ranks) {
  if (ranks == 2) return collective == Collective::reduceScatter ? 2 * kMiB : 8 * kMiB;
  switch (collective) {
    case Collective::reduce:
      return 8 * kMiB;
    case Collective::allGather:
      return 16 * kMiB;
    default:
      return std::numeric_limits<uint64_t>::max();
  }
}

// Measured on two H200, every collective on 1, 4, 8, 16, 32 and 64 blocks at 8 KiB to 1 GiB: below 32 KiB a second
// block costs more than it moves, and from there on 32 are as good as any fewer.
uint32_t directLanes(const SelectionFacts& f) {
  if (f.bytes < 32 * kKiB) return within(f, 1);
  return within(f, f.bytes < leastForMost(f.collective, f.ranks) ? 32 : 64);
}

/// Between machines, several work side by side: while one waits for the wire, another has something for it.
uint32_t lanesBetween(const SelectionFacts& f) { return f.bytes >= kMiB ? 4 : 1; }

/// The same with a daemon of many blocks, by what a rank sends another: measured with one H200 as two machines. A lane
/// has slots of its own in pinned memory, of which there is so much: with more ranks, which have more connections,
/// there are no more lanes than on CPUs, and eight only for messages.
uint32_t lanesBetweenGpus(const SelectionFacts& f) {
  constexpr uint32_t kFewRanks = 8;
  const uint64_t sent = f.collective == Collective::allReduce ? f.bytes / f.ranks : f.bytes;
  if (f.ranks > kFewRanks || sent < 64 * kKiB) return lanesBetween(f);
  if (f.collective == Collective::sendRecv && sent >= kMiB) return within(f, 8);
  return within(f, sent < 128 * kKiB && f.bytes < kMiB ? 2 : 4);
}

// ---- The table --------------------------------------------------------------------------------------------------

struct Rule {
  BackendKind backend;
  bool (*fits)(const SelectionFacts&);
  ProgramKind kind;
  Protocol protocol;
  uint32_t (*lanes)(const SelectionFacts&);
};

constexpr Rule kRules[] = {
    // Graphs' kernels need no program; a daemon, which never runs it, has to have one.
    {BackendKind::cuda, isCaptured, ProgramKind::direct, Protocol::simple, one},
    {BackendKind::cuda, isSpread, ProgramKind::connected, Protocol::simple, lanesBetweenGpus},
    {BackendKind::cuda, isExchanged, ProgramKind::exchange, Protocol::ll, exchangeLanes},
    {BackendKind::cuda, isLarge, ProgramKind::large, Protocol::simple, largeLanes},
    {BackendKind::cuda, always, ProgramKind::direct, Protocol::simple, directLanes},
    {BackendKind::cpu, isSpread, ProgramKind::connected, Protocol::simple, lanesBetween},
    {BackendKind::cpu, always, ProgramKind::direct, Protocol::simple, one},
};

}  // namespace

Selection select(const SelectionFacts& facts) {
  for (const Rule& rule : kRules) {
    if (rule.backend == facts.backend && rule.fits(facts)) return {rule.kind, rule.protocol, rule.lanes(facts)};
  }
  return {};
}

uint32_t lanesOnGpus(Collective collective, uint64_t bytes, uint32_t ranks, uint32_t grid) {
  SelectionFacts facts;
  facts.backend = BackendKind::cuda;
  facts.collective = collective;
  facts.bytes = bytes;
  facts.ranks = ranks;
  facts.grid = grid;
  return select(facts).lanes;
}

Selection selectUntilMapped(uint64_t bytes) {
  SelectionFacts facts;
  facts.bytes = bytes;
  return {ProgramKind::connected, Protocol::simple, connectedLanes(facts)};
}

std::vector<uint8_t> buildSelected(const Selection& selection, const CollectiveSpec& spec, uint32_t member,
                                   const std::vector<uint32_t>& hostOf) {
  const auto ranks = static_cast<uint32_t>(spec.ranks.size());
  switch (selection.kind) {
    case ProgramKind::exchange:
      return buildExchangeProgram(ranks, member, selection.lanes);
    case ProgramKind::connected:
      return buildConnectedProgram(spec.collective, hostOf, member, spec.root, selection.lanes);
    case ProgramKind::large:
      return buildLargeProgram(spec.collective, ranks, member, spec.root, selection.lanes);
    case ProgramKind::direct:
      break;
  }
  return buildDirectProgram(spec.collective, ranks, member, spec.root, selection.lanes);
}

}  // namespace dfccl

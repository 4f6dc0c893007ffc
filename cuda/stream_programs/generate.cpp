#include "stream_programs/generate.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "stream_programs/draw.hpp"
#include "stream_programs/generate_steps.hpp"

namespace dfccl::gpu::programs {
namespace {

// From here on, a rank's part moves directly between buffers.
constexpr double kDirectBytes = 448 << 10;
// Drawn apart, so that programs are otherwise what they are without graphs.
constexpr uint64_t kOfGraphs = 1000;

/// Small ones mostly: a program is about orders, and large ones take its time.
size_t drawBytes(Draw& draw, const Shape& shape) {
  const auto most = static_cast<double>(shape.mostBytes);
  const bool isLarge = shape.features.has(Feature::large) && most > kDirectBytes && draw.hits(8);
  const double least = isLarge ? kDirectBytes : 8;
  double greatest = isLarge ? most : draw.hits(70) ? 4096 : kDirectBytes;
  greatest = std::min(greatest, most);
  return static_cast<size_t>(least * std::pow(greatest / least, draw.unit()));
}

std::vector<int> drawRanks(Draw& draw, const Shape& shape, Kind kind) {
  std::vector<int> ranks(shape.ranks);
  std::iota(ranks.begin(), ranks.end(), 0);
  if (kind != Kind::sendRecv && (!shape.features.has(Feature::subsets) || draw.hits(75))) return ranks;
  draw.shuffle(ranks);
  const size_t size = kind == Kind::sendRecv ? 2 : 2 + draw.below(shape.ranks - 1);
  ranks.resize(size);
  if (kind != Kind::sendRecv) std::sort(ranks.begin(), ranks.end());
  return ranks;
}

Collective drawCollective(Draw& draw, const Shape& shape) {
  Collective c{};
  c.kind = draw.hits(40) ? Kind::allReduce : static_cast<Kind>(draw.below(static_cast<size_t>(Kind::count)));
  c.type = static_cast<ElementType>(draw.below(4));
  c.ranks = drawRanks(draw, shape, c.kind);
  c.op = static_cast<Operator>(draw.below(3));
  const bool isFloating = c.type == ElementType::float32 || c.type == ElementType::float64;
  // An average of three is no whole number.
  if (isFloating && c.ranks.size() != 3 && draw.hits(25)) c.op = Operator::avg;
  c.count = c.kind == Kind::barrier ? 0 : std::max<size_t>(1, drawBytes(draw, shape) / sizeOf(c.type));
  c.root = static_cast<uint32_t>(draw.below(c.ranks.size()));
  return c;
}

std::vector<StreamPlan> drawStreams(Draw& draw, const Shape& shape) {
  std::vector<StreamPlan> streams(1 + draw.below(shape.mostStreams));
  for (StreamPlan& stream : streams) {
    stream = {StreamKind::nonBlocking, 0};
    const size_t dice = draw.below(100);
    if (dice < 8 && shape.features.has(Feature::legacy)) stream.kind = StreamKind::legacy;
    if (dice >= 8 && dice < 16 && shape.features.has(Feature::perThread)) stream.kind = StreamKind::perThread;
    if (dice >= 16 && dice < 30 && shape.features.has(Feature::legacy)) stream.kind = StreamKind::blocking;
    if (shape.features.has(Feature::priority) && draw.hits(40)) stream.urgency = static_cast<uint32_t>(draw.below(6));
  }
  return streams;
}

/// Of collectives that nobody gives up or registers again.
std::vector<PlannedGraph> drawGraphs(Draw& draw, const Program& program, const Shape& shape) {
  std::vector<PlannedGraph> graphs;
  if (!shape.features.has(Feature::graphs) || shape.meets || !draw.hits(40)) return graphs;
  graphs.resize(1 + draw.below(2));
  for (PlannedGraph& graph : graphs) {
    const size_t length = 1 + draw.below(5);
    for (size_t i = 0; i < length; ++i) {
      const size_t collective = draw.below(program.collectives.size());
      if (!program.collectives[collective].isAborted) graph.collectives.push_back(static_cast<int>(collective));
    }
  }
  return graphs;
}

bool isInGraph(const Program& program, int collective) {
  return std::any_of(program.graphs.begin(), program.graphs.end(), [&](const PlannedGraph& graph) {
    return std::find(graph.collectives.begin(), graph.collectives.end(), collective) != graph.collectives.end();
  });
}

}  // namespace

Program generate(uint64_t seed, const Shape& shape) {
  Draw draw(seed, 0);
  Program program;
  program.seed = seed;
  const size_t ids = 1 + draw.below(10);
  for (size_t i = 0; i < ids; ++i) program.collectives.push_back(drawCollective(draw, shape));
  program.aborts = shape.features.has(Feature::aborts) && ids > 1 && draw.hits(12);
  if (program.aborts) program.collectives.back().isAborted = true;

  Draw ofGraphs(seed, kOfGraphs);
  program.graphs = drawGraphs(ofGraphs, program, shape);
  std::vector<uint32_t> launches(program.graphs.size(), 0);

  // What the ranks have in common: the runs of each phase, and the ids that are registered again behind it.
  std::vector<Phase> phases(1 + draw.below(6));
  std::vector<uint32_t> runs(ids, 0), runsBefore(ids, 0);  // ... in former registrations
  for (Phase& phase : phases) {
    // Chains are phases of one run.
    const size_t count = draw.hits(30) ? 1 : 1 + draw.below(14);
    for (size_t i = 0; i < count; ++i) {
      const size_t id = draw.below(ids);
      phase.runs.push_back({static_cast<int>(id), runs[id]++});
    }
    program.runs += count;
    if (!program.graphs.empty() && ofGraphs.hits(60)) {
      const size_t graph = ofGraphs.below(program.graphs.size());
      phase.launched = static_cast<int>(graph);
      phase.launch = launches[graph]++;
      program.runs += program.graphs[graph].collectives.size();
    }
    if (!shape.features.has(Feature::renewals) || !draw.hits(15)) continue;
    const size_t renewed = draw.below(ids);
    if (program.collectives[renewed].isAborted || runs[renewed] == runsBefore[renewed]) continue;
    if (isInGraph(program, static_cast<int>(renewed))) continue;
    phase.renewed = static_cast<int>(renewed);
    runsBefore[renewed] = runs[renewed];
  }
  for (uint32_t rank = 0; rank < shape.ranks; ++rank) {
    Draw own(seed, rank + 1);
    program.streams.push_back(drawStreams(own, shape));
    program.steps.push_back(StepsOfRank(program, phases, static_cast<int>(rank), shape, own).make());
  }
  return program;
}

}  // namespace dfccl::gpu::programs

#include <algorithm>

#include "stream_programs/program.hpp"

namespace dfccl::gpu::programs {
namespace {

uint64_t mixed(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/// Of one block of what a rank sends in one run: another value for every rank, run, id and program. Sums of four stay
/// below 2^24, up to which a float has every whole number; four divides it, so averages of two and four are whole.
int32_t baseOf(uint64_t seed, int collective, uint32_t run, uint32_t position, uint32_t block) {
  const uint64_t name = mixed(mixed(seed * 64 + static_cast<uint64_t>(collective)) + run) + position * 8 + block;
  return static_cast<int32_t>(mixed(name) % 1'000'000) * 4;
}

int32_t combined(Operator op, const int32_t* values, uint32_t count) {
  int64_t sum = 0;
  for (uint32_t i = 0; i < count; ++i) sum += values[i];
  switch (op) {
    case Operator::min:
      return *std::min_element(values, values + count);
    case Operator::max:
      return *std::max_element(values, values + count);
    case Operator::avg:
      return static_cast<int32_t>(sum / count);
    default:
      return static_cast<int32_t>(sum);
  }
}

}  // namespace

int positionOf(const Collective& collective, int rank) {
  const auto found = std::find(collective.ranks.begin(), collective.ranks.end(), rank);
  return found == collective.ranks.end() ? -1 : static_cast<int>(found - collective.ranks.begin());
}

uint32_t numberInGraph(int graph, uint32_t launch, size_t place) {
  constexpr uint32_t kOfGraphs = 0x8000;  // a program has fewer runs without one
  return kOfGraphs | static_cast<uint32_t>(graph) << 12 | (launch & 0xff) << 4 | static_cast<uint32_t>(place);
}

bool takesPart(const Program& program, int graph, int rank) {
  const std::vector<int>& collectives = program.graphs[static_cast<size_t>(graph)].collectives;
  return std::any_of(collectives.begin(), collectives.end(), [&](int collective) {
    return positionOf(program.collectives[static_cast<size_t>(collective)], rank) >= 0;
  });
}

RunPatterns patternsOf(const Program& program, int collective, uint32_t run, int rank) {
  const Collective& c = program.collectives[static_cast<size_t>(collective)];
  const auto me = static_cast<uint32_t>(positionOf(c, rank));
  const auto n = static_cast<uint32_t>(c.ranks.size());
  const bool isRoot = me == c.root;
  RunPatterns made;
  const auto base = [&](uint32_t position, uint32_t block) {
    return baseOf(program.seed, collective, run, position, block);
  };
  const auto send = [&](uint32_t blocks) {
    made.input = {c.count, blocks, 1, {}};
    for (uint32_t b = 0; b < blocks; ++b) made.input.bases[b] = base(me, b);
  };
  /// One block of every rank, or one of a rank.
  const auto receiveFromAll = [&](uint32_t block) {
    made.output = {c.count, n, 1, {}};
    for (uint32_t p = 0; p < n; ++p) made.output.bases[p] = base(p, block);
  };
  const auto receive = [&](int32_t value, int32_t factor) { made.output = {c.count, 1, factor, {value}}; };
  const auto receiveReduced = [&](uint32_t block) {
    int32_t values[kMostRanks] = {};
    for (uint32_t p = 0; p < n; ++p) values[p] = base(p, block);
    receive(combined(c.op, values, n), c.op == Operator::sum ? static_cast<int32_t>(n) : 1);
  };
  switch (c.kind) {
    case Kind::allReduce:
      send(1), receiveReduced(0);
      break;
    case Kind::allGather:
      send(1), receiveFromAll(0);
      break;
    case Kind::reduceScatter:
      send(n), receiveReduced(me);
      break;
    case Kind::reduce:
      send(1);
      if (isRoot) receiveReduced(0);
      break;
    case Kind::broadcast:
      if (isRoot) send(1);
      receive(base(c.root, 0), 1);
      break;
    case Kind::allToAll:
      send(n), receiveFromAll(me);
      break;
    case Kind::gather:
      send(1);
      if (isRoot) receiveFromAll(0);
      break;
    case Kind::scatter:
      if (isRoot) send(n);
      receive(base(c.root, me), 1);
      break;
    case Kind::sendRecv:
      isRoot ? send(1) : receive(base(c.root, 0), 1);
      break;
    default:
      break;
  }
  return made;
}

}  // namespace dfccl::gpu::programs

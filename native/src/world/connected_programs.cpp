#include "world/connected_programs.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "daemon/framing/protocols.hpp"
#include "world/builtin_programs.hpp"
#include "world/program_encoding.hpp"

namespace dfccl {
namespace {

// Mirrors packages/primitives/src/builders/hierarchical.ts and all-pairs.ts.

struct ChunkAt {
  BufferKind buffer = BufferKind::none;
  uint32_t chunk = 0;
};
ChunkAt input(uint32_t chunk) { return {BufferKind::input, chunk}; }
ChunkAt output(uint32_t chunk) { return {BufferKind::output, chunk}; }

struct Step {
  Op op;
  ChunkAt dst, src;
  uint32_t from = kNone;  // ranks
  uint32_t to = kNone;
  bool isFinal = false;
  uint32_t count = 1;
};

using Steps = std::vector<Step>;

Step send(ChunkAt src, uint32_t to) { return {Op::send, {}, src, kNone, to}; }
Step recv(ChunkAt dst, uint32_t from) { return {Op::recv, dst, {}, from}; }
Step copy(ChunkAt dst, ChunkAt src) { return {Op::copy, dst, src}; }
Step recvCopySend(ChunkAt dst, uint32_t from, uint32_t to) { return {Op::recvCopySend, dst, {}, from, to}; }
Step recvReduceSend(ChunkAt src, uint32_t from, uint32_t to) { return {Op::recvReduceSend, {}, src, from, to}; }
Step recvReduceCopy(ChunkAt dst, ChunkAt src, uint32_t from, bool isFinal) {
  return {Op::recvReduceCopy, dst, src, from, kNone, isFinal};
}
Step recvReduceCopySend(ChunkAt dst, ChunkAt src, uint32_t from, uint32_t to) {
  return {Op::recvReduceCopySend, dst, src, from, to, true};
}

/// Ranks by machine: as many on each, or each on one of its own.
std::vector<std::vector<uint32_t>> machinesOf(const std::vector<uint32_t>& hostOf) {
  std::vector<std::vector<uint32_t>> machines;
  std::map<uint32_t, size_t> known;
  for (uint32_t r = 0; r < hostOf.size(); ++r) {
    const auto [at, isNew] = known.emplace(hostOf[r], machines.size());
    if (isNew) machines.emplace_back();
    machines[at->second].push_back(r);
  }
  const size_t each = machines.front().size();
  if (std::all_of(machines.begin(), machines.end(), [&](const auto& m) { return m.size() == each; })) return machines;
  machines.clear();
  for (uint32_t r = 0; r < hostOf.size(); ++r) machines.push_back({r});
  return machines;
}

/// Chunk (shard * machines + part): a shard for each rank of a machine, a part for each machine.
Steps allReduce(const std::vector<std::vector<uint32_t>>& machines, uint32_t rank) {
  const auto hosts = static_cast<uint32_t>(machines.size());
  const auto locals = static_cast<uint32_t>(machines.front().size());
  uint32_t host = 0, own = 0;
  for (uint32_t h = 0; h < hosts; ++h) {
    for (uint32_t l = 0; l < locals; ++l) {
      if (machines[h][l] == rank) std::tie(host, own) = std::pair{h, l};
    }
  }
  const auto chunk = [&](uint32_t shard, uint32_t part) { return shard * hosts + part % hosts; };
  const auto partner = [&](uint32_t round) { return (own + round) % locals; };
  Steps steps;
  for (uint32_t part = 0; part < hosts && locals > 1; ++part) {
    for (uint32_t k = 1; k < locals; ++k)
      steps.push_back(send(input(chunk(partner(k), part)), machines[host][partner(k)]));
    for (uint32_t k = 1; k < locals; ++k) {
      const ChunkAt result = output(chunk(own, part));
      steps.push_back(recvReduceCopy(result, k == 1 ? input(chunk(own, part)) : result,
                                     machines[host][partner(locals - k)], hosts == 1 && k + 1 == locals));
    }
  }
  if (hosts > 1) {
    const uint32_t next = machines[(host + 1) % hosts][own];
    const uint32_t previous = machines[(host + hosts - 1) % hosts][own];
    const auto at = [&](uint32_t distance) { return chunk(own, host + distance); };
    const auto source = [&](uint32_t c) { return locals > 1 ? output(c) : input(c); };
    steps.push_back(send(source(at(0)), next));
    for (uint32_t hop = 1; hop + 1 < hosts; ++hop)
      steps.push_back(recvReduceSend(source(at(hosts - hop)), previous, next));
    steps.push_back(recvReduceCopySend(output(at(1)), source(at(1)), previous, next));
    for (uint32_t hop = 0; hop + 2 < hosts; ++hop)
      steps.push_back(recvCopySend(output(at(hosts - hop)), previous, next));
    steps.push_back(recv(output(at(2)), previous));
  }
  for (uint32_t part = 0; part < hosts && locals > 1; ++part) {
    for (uint32_t k = 1; k < locals; ++k) steps.push_back(send(output(chunk(own, part)), machines[host][partner(k)]));
    for (uint32_t k = 1; k < locals; ++k) {
      const uint32_t from = partner(locals - k);
      steps.push_back(recv(output(chunk(from, part)), machines[host][from]));
    }
  }
  return steps;
}

/// In rounds, so that nobody is everyone's first target.
std::vector<uint32_t> partnersInRounds(uint32_t ranks, uint32_t rank) {
  std::vector<uint32_t> partners;
  for (uint32_t round = 0; round < ranks; ++round) {
    const uint32_t partner = (round + ranks - rank) % ranks;
    if (partner != rank) partners.push_back(partner);
  }
  return partners;
}

std::vector<uint32_t> others(uint32_t ranks, uint32_t rank) {
  std::vector<uint32_t> peers;
  for (uint32_t r = 0; r < ranks; ++r) {
    if (r != rank) peers.push_back(r);
  }
  return peers;
}

Steps reduceFromAll(uint32_t ranks, uint32_t rank, ChunkAt result, ChunkAt own) {
  Steps steps;
  for (const uint32_t peer : partnersInRounds(ranks, rank))
    steps.push_back(recvReduceCopy(result, steps.empty() ? own : result, peer, steps.size() + 2 == ranks));
  return steps;
}

struct Shape {
  uint32_t inputSegments = 1, outputSegments = 1, chunks = 1;
};

Shape shapeOf(Collective collective, uint32_t ranks) {
  switch (collective) {
    case Collective::allReduce:
      return {1, 1, ranks};
    case Collective::allGather:
    case Collective::gather:
      return {1, ranks, 1};
    case Collective::reduceScatter:
    case Collective::scatter:
      return {ranks, 1, 1};
    case Collective::allToAll:
      return {ranks, ranks, 1};
    case Collective::barrier:
      return {0, 0, 1};
    default:
      return {};
  }
}

Steps stepsOf(Collective collective, const std::vector<uint32_t>& hostOf, uint32_t rank, uint32_t root) {
  const auto ranks = static_cast<uint32_t>(hostOf.size());
  const std::vector<uint32_t> partners = partnersInRounds(ranks, rank);
  const std::vector<uint32_t> peers = others(ranks, rank);
  Steps steps;
  switch (collective) {
    case Collective::allReduce:
      return allReduce(machinesOf(hostOf), rank);
    case Collective::allGather:
      for (const uint32_t peer : partners) steps.push_back(send(input(0), peer));
      steps.push_back(copy(output(rank), input(0)));
      for (const uint32_t peer : partners) steps.push_back(recv(output(peer), peer));
      return steps;
    case Collective::reduceScatter: {
      for (const uint32_t peer : partners) steps.push_back(send(input(peer), peer));
      for (const Step& step : reduceFromAll(ranks, rank, output(0), input(rank))) steps.push_back(step);
      return steps;
    }
    case Collective::reduce:
      if (rank == root) return reduceFromAll(ranks, rank, output(0), input(0));
      return {send(input(0), root)};
    case Collective::broadcast:
      if (rank != root) return {recv(output(0), root)};
      for (const uint32_t peer : peers) steps.push_back(send(input(0), peer));
      steps.push_back(copy(output(0), input(0)));
      return steps;
    case Collective::allToAll:
      steps.push_back(copy(output(rank), input(rank)));
      for (const uint32_t peer : partners) {
        steps.push_back(send(input(peer), peer));
        steps.push_back(recv(output(peer), peer));
      }
      return steps;
    case Collective::gather:
      if (rank != root) return {send(input(0), root)};
      steps.push_back(copy(output(rank), input(0)));
      for (const uint32_t peer : peers) steps.push_back(recv(output(peer), peer));
      return steps;
    case Collective::scatter:
      if (rank != root) return {recv(output(0), root)};
      for (const uint32_t peer : peers) steps.push_back(send(input(peer), peer));
      steps.push_back(copy(output(0), input(rank)));
      return steps;
    case Collective::sendRecv:
      return {rank == root ? send(input(0), 1 - root) : recv(output(0), root)};
    case Collective::barrier:
    case Collective::custom:
      for (uint32_t distance = 1; distance < ranks; distance *= 2) {
        Step signal = send({}, (rank + distance) % ranks);
        Step await = recv({}, (rank + ranks - distance) % ranks);
        signal.count = await.count = 0;
        steps.push_back(signal);
        steps.push_back(await);
      }
      return steps;
  }
  return steps;
}

class Connections {
 public:
  uint32_t indexOf(uint32_t peer, bool isSend, uint32_t lane) {
    if (peer == kNone) return kNone;
    const auto [at, isNew] = known_.emplace(std::tuple{peer, isSend, lane}, records.size());
    if (isNew) records.push_back({peer, lane, isSend ? 1u : 0u, lane});
    return static_cast<uint32_t>(at->second);
  }
  std::vector<ConnectionRecord> records;

 private:
  std::map<std::tuple<uint32_t, bool, uint32_t>, size_t> known_;
};

std::vector<uint8_t> encode(Collective collective, const std::vector<uint32_t>& hostOf, uint32_t rank, uint32_t root,
                            uint32_t lanes) {
  const Steps steps = stepsOf(collective, hostOf, rank, root);
  const auto ranks = static_cast<uint32_t>(hostOf.size());
  const Shape shape = shapeOf(collective, ranks);
  Connections connections;
  std::vector<StepRecord> records;
  const auto laneOf = [&](const ChunkAt& place, uint32_t lane) {
    const uint32_t segment = place.chunk / shape.chunks;
    return (segment * lanes + lane) * shape.chunks + place.chunk % shape.chunks;
  };
  for (uint32_t lane = 0; lane < lanes; ++lane) {
    for (const Step& step : steps) {
      StepRecord s = emptyStep();
      s.op = static_cast<uint8_t>(step.op);
      s.flags = step.isFinal ? kFinish : 0;
      s.count = step.count;
      s.srcBuffer = static_cast<uint8_t>(step.src.buffer);
      s.dstBuffer = static_cast<uint8_t>(step.dst.buffer);
      if (step.src.buffer != BufferKind::none) s.srcChunk = laneOf(step.src, lane);
      if (step.dst.buffer != BufferKind::none) s.dstChunk = laneOf(step.dst, lane);
      s.recvConnection = connections.indexOf(step.from, false, lane);
      s.sendConnection = connections.indexOf(step.to, true, lane);
      records.push_back(s);
    }
  }
  ProgramHeader h{};
  h.magic = kProgramMagic;
  h.version = kProgramVersion;
  h.flags = kInPlace | kOutOfPlace;
  h.rankCount = ranks;
  h.rank = rank;
  h.collective = static_cast<uint32_t>(collective);
  h.protocol = static_cast<uint32_t>(Protocol::simple);
  h.blockCount = lanes;
  h.connectionCount = static_cast<uint32_t>(connections.records.size());
  h.stepCount = static_cast<uint32_t>(records.size());
  h.chunksPerSegment = shape.chunks * lanes;
  h.inputSegments = shape.inputSegments;
  h.outputSegments = shape.outputSegments;
  h.slotCount = kSimpleSlotCount;
  h.maxStepCount = collective == Collective::barrier ? 0 : 1;
  h.root = hasRoot(collective) ? root : kNone;
  h.totalBytes = static_cast<uint32_t>(sizeof h + lanes * sizeof(BlockRecord) +
                                       connections.records.size() * sizeof(ConnectionRecord) +
                                       records.size() * sizeof(StepRecord));
  std::vector<uint8_t> bytes;
  append(bytes, h);
  const auto perLane = static_cast<uint32_t>(steps.size());
  for (uint32_t lane = 0; lane < lanes; ++lane) append(bytes, BlockRecord{lane * perLane, perLane, {}});
  for (const ConnectionRecord& record : connections.records) append(bytes, record);
  for (const StepRecord& record : records) append(bytes, record);
  return bytes;
}

}  // namespace

std::vector<uint8_t> buildConnectedProgram(Collective collective, const std::vector<uint32_t>& hostOf, uint32_t rank,
                                           uint32_t root, uint32_t lanes) {
  const auto ranks = static_cast<uint32_t>(hostOf.size());
  if (ranks == 1) return buildDirectProgram(collective, 1, rank, root, lanes);
  return encodeOneOf(ranks, rank, [&](uint32_t r) { return encode(collective, hostOf, r, root, lanes); });
}

}  // namespace dfccl

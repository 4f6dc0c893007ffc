#include "world/builtin_programs.hpp"

#include <cstddef>
#include <cstring>
#include <functional>

#include "dfccl/program.hpp"
#include "world/program_encoding.hpp"

namespace dfccl {
namespace {

// Mirrors packages/primitives/src/builders/direct.ts and src/binary/encode.ts.

struct Ref {
  uint32_t rank;
  BufferKind buffer;
  uint32_t chunk;
};

struct Step {
  std::vector<Ref> sources, destinations;
};

struct Facts {
  uint32_t chunksPerSegment = 1;
  uint32_t inputSegments = 1;
  uint32_t outputSegments = 1;
  uint32_t flags = kInPlace | kUsesDirect | kOutOfPlace;
  bool finishes = false;
  Protocol protocol = Protocol::simple;
  std::function<std::vector<Step>(uint32_t rank)> steps;
};

constexpr auto kInput = BufferKind::input;
constexpr auto kOutput = BufferKind::output;

/// `rank(i)`'s chunk for every rank i.
std::vector<Ref> ofEvery(uint32_t ranks, BufferKind buffer, uint32_t chunk) {
  std::vector<Ref> refs;
  for (uint32_t r = 0; r < ranks; ++r) refs.push_back({r, buffer, chunk});
  return refs;
}

Facts factsOf(Collective collective, uint32_t n, uint32_t root) {
  Facts f;
  switch (collective) {
    case Collective::allReduce:
      f.chunksPerSegment = n;
      f.finishes = true;
      f.steps = [=](uint32_t r) { return std::vector<Step>{{ofEvery(n, kInput, r), ofEvery(n, kOutput, r)}}; };
      break;
    case Collective::allGather:
      f.outputSegments = n;
      f.steps = [=](uint32_t r) { return std::vector<Step>{{{{r, kInput, 0}}, ofEvery(n, kOutput, r)}}; };
      break;
    case Collective::reduceScatter:
      f.inputSegments = n;
      f.finishes = true;
      f.steps = [=](uint32_t r) { return std::vector<Step>{{ofEvery(n, kInput, r), {{r, kOutput, 0}}}}; };
      break;
    case Collective::reduce:
      f.chunksPerSegment = n;
      f.finishes = true;
      f.steps = [=](uint32_t r) { return std::vector<Step>{{ofEvery(n, kInput, r), {{root, kOutput, r}}}}; };
      break;
    case Collective::broadcast:
      f.chunksPerSegment = n;
      f.steps = [=](uint32_t r) { return std::vector<Step>{{{{root, kInput, r}}, ofEvery(n, kOutput, r)}}; };
      break;
    case Collective::allToAll:
      f.inputSegments = f.outputSegments = n;
      f.flags = kUsesDirect | kOutOfPlace;
      f.steps = [=](uint32_t r) {
        std::vector<Step> steps;
        for (uint32_t distance = 0; distance < n; ++distance) {
          const uint32_t to = (r + distance) % n;
          steps.push_back({{{r, kInput, to}}, {{to, kOutput, r}}});
        }
        return steps;
      };
      break;
    case Collective::gather:
      f.outputSegments = n;
      f.steps = [=](uint32_t r) { return std::vector<Step>{{{{r, kInput, 0}}, {{root, kOutput, r}}}}; };
      break;
    case Collective::scatter:
      f.inputSegments = n;
      f.steps = [=](uint32_t r) { return std::vector<Step>{{{{root, kInput, r}}, {{r, kOutput, 0}}}}; };
      break;
    case Collective::sendRecv:
      f.chunksPerSegment = 2;
      f.steps = [=](uint32_t r) { return std::vector<Step>{{{{root, kInput, r}}, {{1 - root, kOutput, r}}}}; };
      break;
    case Collective::barrier:
    case Collective::custom:
      f.inputSegments = f.outputSegments = 0;
      f.steps = [](uint32_t) { return std::vector<Step>{}; };
      break;
  }
  return f;
}

/// The same steps for each of several blocks, every chunk cut into as many.
std::vector<Step> inLanes(const std::vector<Step>& steps, uint32_t lanes) {
  std::vector<Step> all;
  for (uint32_t lane = 0; lane < lanes; ++lane) {
    for (Step step : steps) {
      for (auto* refs : {&step.sources, &step.destinations}) {
        for (Ref& ref : *refs) ref.chunk = ref.chunk * lanes + lane;
      }
      all.push_back(std::move(step));
    }
  }
  return all;
}

std::vector<uint8_t> encode(Collective collective, const Facts& f, uint32_t rankCount, uint32_t rank, uint32_t root,
                            uint32_t lanes) {
  const std::vector<Step> steps = inLanes(f.steps(rank), lanes);
  std::vector<uint8_t> bytes;
  uint32_t refCount = 0;
  for (const Step& s : steps) refCount += static_cast<uint32_t>(s.sources.size() + s.destinations.size());
  ProgramHeader h{};
  h.magic = kProgramMagic;
  h.version = kProgramVersion;
  h.flags = f.flags;
  h.rankCount = rankCount;
  h.rank = rank;
  h.collective = static_cast<uint32_t>(collective);
  h.protocol = static_cast<uint32_t>(f.protocol);
  h.blockCount = lanes;
  h.stepCount = static_cast<uint32_t>(steps.size());
  h.refCount = refCount;
  h.chunksPerSegment = f.chunksPerSegment * lanes;
  h.inputSegments = f.inputSegments;
  h.outputSegments = f.outputSegments;
  h.slotCount = kSimpleSlotCount;
  h.root = hasRoot(collective) ? root : kNone;
  h.totalBytes = static_cast<uint32_t>(sizeof h + lanes * sizeof(BlockRecord) + steps.size() * sizeof(StepRecord) +
                                       refCount * sizeof(ChunkRefRecord));
  append(bytes, h);
  const uint32_t perLane = h.stepCount / lanes;
  for (uint32_t lane = 0; lane < lanes; ++lane) append(bytes, BlockRecord{lane * perLane, perLane, {}});
  uint32_t firstRef = 0;
  for (const Step& step : steps) {
    StepRecord s = emptyStep();
    s.op = static_cast<uint8_t>(Op::multiReduceCopy);
    s.flags = f.finishes ? kFinish : 0;
    s.count = 1;
    s.firstRef = firstRef;
    s.sourceCount = static_cast<uint16_t>(step.sources.size());
    s.destinationCount = static_cast<uint16_t>(step.destinations.size());
    firstRef += s.sourceCount + s.destinationCount;
    append(bytes, s);
  }
  for (const Step& step : steps) {
    for (const auto* refs : {&step.sources, &step.destinations}) {
      for (const Ref& ref : *refs)
        append(bytes, ChunkRefRecord{ref.rank, static_cast<uint32_t>(ref.buffer), ref.chunk, 0});
    }
  }
  return bytes;
}

/// With one rank every collective but the barrier is a copy.
std::vector<uint8_t> encodeCopy(Collective collective) {
  std::vector<uint8_t> bytes;
  ProgramHeader h{};
  h.magic = kProgramMagic;
  h.version = kProgramVersion;
  h.flags = kInPlace | kOutOfPlace;
  h.rankCount = 1;
  h.collective = static_cast<uint32_t>(collective);
  h.blockCount = h.stepCount = h.chunksPerSegment = h.inputSegments = h.outputSegments = 1;
  h.slotCount = kSimpleSlotCount;
  h.root = hasRoot(collective) ? 0 : kNone;
  h.totalBytes = sizeof h + sizeof(BlockRecord) + sizeof(StepRecord);
  append(bytes, h);
  append(bytes, BlockRecord{0, 1, {}});
  StepRecord s = emptyStep();
  s.op = static_cast<uint8_t>(Op::copy);
  s.srcBuffer = static_cast<uint8_t>(kInput);
  s.dstBuffer = static_cast<uint8_t>(kOutput);
  s.count = 1;
  append(bytes, s);
  return bytes;
}

}  // namespace

std::vector<uint8_t> buildDirectProgram(Collective collective, uint32_t rankCount, uint32_t rank, uint32_t root,
                                        uint32_t lanes) {
  if (rankCount == 1 && collective != Collective::barrier) {
    return encodeOneOf(1, 0, [&](uint32_t) { return encodeCopy(collective); });
  }
  const Facts facts = factsOf(collective, rankCount, root);
  return encodeOneOf(rankCount, rank, [&](uint32_t r) { return encode(collective, facts, rankCount, r, root, lanes); });
}

std::vector<uint8_t> buildExchangeProgram(uint32_t rankCount, uint32_t rank, uint32_t lanes) {
  Facts facts;
  facts.protocol = Protocol::ll;
  facts.finishes = true;
  facts.steps = [=](uint32_t r) { return std::vector<Step>{{ofEvery(rankCount, kInput, 0), {{r, kOutput, 0}}}}; };
  return encodeOneOf(rankCount, rank,
                     [&](uint32_t r) { return encode(Collective::allReduce, facts, rankCount, r, 0, lanes); });
}

}  // namespace dfccl

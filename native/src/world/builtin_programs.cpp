#include "world/builtin_programs.hpp"

#include "base/program.hpp"
#include "world/direct_encoding.hpp"
#include "world/program_encoding.hpp"

namespace dfccl {
namespace {

// Mirrors packages/primitives/src/builders/direct.ts and src/binary/encode.ts.

using direct::Facts;
using direct::kInput;
using direct::kOutput;
using direct::ofEvery;
using direct::Step;

Facts factsOf(Collective collective, uint32_t n, uint32_t root) {
  Facts f;
  switch (collective) {
    case Collective::allReduce:
      f.chunksPerSegment = n;
      f.steps = [=](uint32_t r) { return std::vector<Step>{{ofEvery(n, kInput, r), ofEvery(n, kOutput, r), true}}; };
      break;
    case Collective::allGather:
      f.outputSegments = n;
      f.steps = [=](uint32_t r) { return std::vector<Step>{{{{r, kInput, 0}}, ofEvery(n, kOutput, r)}}; };
      break;
    case Collective::reduceScatter:
      f.inputSegments = n;
      f.steps = [=](uint32_t r) { return std::vector<Step>{{ofEvery(n, kInput, r), {{r, kOutput, 0}}, true}}; };
      break;
    case Collective::reduce:
      f.chunksPerSegment = n;
      f.steps = [=](uint32_t r) { return std::vector<Step>{{ofEvery(n, kInput, r), {{root, kOutput, r}}, true}}; };
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
  return direct::encodeFor(collective, factsOf(collective, rankCount, root), rankCount, rank, root, lanes);
}

std::vector<uint8_t> buildExchangeProgram(uint32_t rankCount, uint32_t rank, uint32_t lanes) {
  Facts facts;
  facts.protocol = Protocol::ll;
  facts.steps = [=](uint32_t r) { return std::vector<Step>{{ofEvery(rankCount, kInput, 0), {{r, kOutput, 0}}, true}}; };
  return direct::encodeFor(Collective::allReduce, facts, rankCount, rank, 0, lanes);
}

}  // namespace dfccl

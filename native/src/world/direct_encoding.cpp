#include "world/direct_encoding.hpp"

#include "world/program_encoding.hpp"

namespace dfccl::direct {
namespace {

/// The same steps for each of several blocks.
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
    s.flags = step.finishes ? kFinish : 0;
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

}  // namespace

std::vector<Ref> ofEvery(uint32_t ranks, BufferKind buffer, uint32_t chunk) {
  std::vector<Ref> refs;
  for (uint32_t r = 0; r < ranks; ++r) refs.push_back({r, buffer, chunk});
  return refs;
}

std::vector<uint8_t> encodeFor(Collective collective, const Facts& facts, uint32_t rankCount, uint32_t rank,
                               uint32_t root, uint32_t lanes) {
  return encodeOneOf(rankCount, rank, [&](uint32_t r) { return encode(collective, facts, rankCount, r, root, lanes); });
}

std::vector<uint8_t> encodeUndigested(Collective collective, const Facts& facts, uint32_t rankCount, uint32_t rank,
                                      uint32_t root) {
  return encode(collective, facts, rankCount, rank, root, 1);
}

}  // namespace dfccl::direct

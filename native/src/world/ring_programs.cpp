#include "world/ring_programs.hpp"

#include <algorithm>
#include <cstring>

#include "world/direct_encoding.hpp"

namespace dfccl {
namespace {

using direct::Facts;
using direct::kInput;
using direct::kOutput;
using direct::ofEvery;
using direct::Step;

// Programs in which members write into their own outputs only.

Step fetch(uint32_t from, uint32_t chunk, uint32_t rank, uint32_t to) {
  return {{{from, kInput, chunk}}, {{rank, kOutput, to}}};
}

/// From every member, beginning behind the own, so that not all read the same ring.
template <class Make>
std::vector<Step> inTurn(uint32_t n, uint32_t rank, const Make& make) {
  std::vector<Step> steps;
  for (uint32_t distance = 1; distance <= n; ++distance) steps.push_back(make((rank + distance) % n));
  return steps;
}

/// Shard r is reduced by rank r, and fetched from it by all others.
std::vector<Step> allReduce(uint32_t n, uint32_t rank) {
  std::vector<Step> steps{{ofEvery(n, kInput, rank), {{rank, kOutput, rank}}, true}};
  for (uint32_t distance = 1; distance < n; ++distance) {
    const uint32_t from = (rank + distance) % n;
    steps.push_back({{{from, kOutput, from}}, {{rank, kOutput, from}}});
  }
  return steps;
}

Facts ringFactsOf(Collective collective, uint32_t n, uint32_t root) {
  Facts f;
  switch (collective) {
    case Collective::allReduce:
      f.chunksPerSegment = n;
      f.steps = [=](uint32_t r) { return allReduce(n, r); };
      break;
    case Collective::allGather:
      f.outputSegments = n;
      f.steps = [=](uint32_t r) { return inTurn(n, r, [=](uint32_t from) { return fetch(from, 0, r, from); }); };
      break;
    case Collective::reduceScatter:
      f.inputSegments = n;
      f.steps = [=](uint32_t r) { return std::vector<Step>{{ofEvery(n, kInput, r), {{r, kOutput, 0}}, true}}; };
      break;
    case Collective::allToAll:
      f.inputSegments = f.outputSegments = n;
      f.steps = [=](uint32_t r) { return inTurn(n, r, [=](uint32_t from) { return fetch(from, r, r, from); }); };
      break;
    case Collective::broadcast:
      f.steps = [=](uint32_t r) { return std::vector<Step>{fetch(root, 0, r, 0)}; };
      break;
    case Collective::reduce:
      f.steps = [=](uint32_t r) {
        return r != root ? std::vector<Step>{} : std::vector<Step>{{ofEvery(n, kInput, 0), {{r, kOutput, 0}}, true}};
      };
      break;
    case Collective::gather:
      f.outputSegments = n;
      f.steps = [=](uint32_t r) {
        return r != root ? std::vector<Step>{} : inTurn(n, r, [=](uint32_t from) { return fetch(from, 0, r, from); });
      };
      break;
    case Collective::scatter:
      f.inputSegments = n;
      f.steps = [=](uint32_t r) { return std::vector<Step>{fetch(root, r, r, 0)}; };
      break;
    case Collective::sendRecv:
      f.steps = [=](uint32_t r) { return r == root ? std::vector<Step>{} : std::vector<Step>{fetch(root, 0, r, 0)}; };
      break;
    case Collective::barrier:
    case Collective::custom:
      break;
  }
  return f;
}

/// Whether others read a member's input.
bool isReadByOthers(Collective collective, bool isRoot) {
  switch (collective) {
    case Collective::broadcast:
    case Collective::scatter:
    case Collective::sendRecv:
      return isRoot;
    case Collective::reduce:
    case Collective::gather:
      return !isRoot;
    default:
      return true;
  }
}

}  // namespace

void OwnedRingPlan::fillBefore(const void* input, void* ring) const {
  if (!isFilledBefore) return;
  for (uint32_t chunk = 0; chunk < inputChunks; ++chunk) {
    if (chunk == ownChunk) continue;
    const ChunkRange range = program->range(BufferKind::input, chunk);
    const auto* const from = static_cast<const uint8_t*>(input) + range.byteOffset;
    const uint64_t tileBytes = program->tileElements * program->elementBytes();
    for (uint32_t tile = 0; tile < program->tiles; ++tile) {
      const uint64_t length = program->elementsOfTile(range, tile) * program->elementBytes();
      std::memcpy(static_cast<uint8_t*>(ring) + inputOffset(chunk, tile), from + tile * tileBytes, length);
    }
  }
}

std::unique_ptr<const OwnedRingPlan> planRings(const CollectiveSpec& spec, uint32_t member, const RingSizes& sizes) {
  const auto n = static_cast<uint32_t>(spec.ranks.size());
  const uint64_t bytes = spec.count * sizeOf(spec.type);
  if (n == 1 || !spec.program.empty() || spec.countPerRun) return nullptr;
  if (spec.collective == Collective::barrier || spec.collective == Collective::custom) return nullptr;
  const Facts facts = ringFactsOf(spec.collective, n, spec.root);
  const bool hasReduce = spec.collective == Collective::allReduce;
  // Its tiles pass two rings, so there have to be more of them before one copy of the whole takes longer.
  const uint64_t least = hasReduce ? sizes.leastBytes * n / 2 : sizes.leastBytes;
  const uint64_t largest = bytes * std::max(facts.inputSegments, facts.outputSegments);
  const bool isWhole = largest < least;
  // What is reduced would pass a second ring, for which members had to wait once more: measured, that costs more.
  if (isWhole && (hasReduce || largest < sizes.leastWholeBytes)) return nullptr;
  const uint32_t inputs = facts.inputSegments * facts.chunksPerSegment;
  const uint64_t share = sizes.ringBytes / (sizes.slots * (inputs + hasReduce));
  auto plan = std::make_unique<OwnedRingPlan>();
  plan->owned = loadProgram(direct::encodeUndigested(spec.collective, facts, n, member, spec.root), spec.type,
                            spec.count, {.directTileBytes = std::clamp(share, sizes.leastTileBytes, sizes.tileBytes)});
  plan->program = plan->owned.get();
  plan->slots = isWhole ? plan->owned->tiles : std::min(plan->owned->tiles, sizes.slots);
  plan->isFilledBefore = isWhole;
  plan->slotBytes = static_cast<uint32_t>(plan->owned->tileElements * sizeOf(spec.type) + 63) / 64 * 64;
  plan->inputChunks = isReadByOthers(spec.collective, member == spec.root) ? inputs : 0;
  plan->ownChunk = inputs > 1 ? member : kNone;
  plan->hasReduce = hasReduce;
  if (plan->inputChunks != 0 || hasReduce) {
    plan->ringBytes = (uint64_t{inputs} + hasReduce) * plan->slots * plan->slotBytes;
  }
  return plan;
}

}  // namespace dfccl

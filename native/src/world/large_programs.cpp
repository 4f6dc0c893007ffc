#include "world/large_programs.hpp"

#include "world/direct_encoding.hpp"

namespace dfccl {
namespace {

using direct::Facts;
using direct::kInput;
using direct::kOutput;
using direct::ofEvery;
using direct::Ref;
using direct::Step;

/// Which of the root's chunks is a rank's: there is one for each other rank.
uint32_t shareOf(uint32_t rank, uint32_t root) { return rank < root ? rank : rank - 1; }

/// The outputs of all but one, beginning behind a rank, so that not all write to the same.
std::vector<Ref> outputsBut(uint32_t missing, uint32_t ranks, uint32_t rank, uint32_t chunk) {
  std::vector<Ref> refs;
  for (uint32_t distance = 1; distance <= ranks; ++distance) {
    const uint32_t to = (rank + distance) % ranks;
    if (to != missing) refs.push_back({to, kOutput, chunk});
  }
  return refs;
}

/// Shard r is reduced into rank r's own output, by reads; from there it is written to all others.
std::vector<Step> allReduceInPhases(uint32_t n, uint32_t rank) {
  return {{ofEvery(n, kInput, rank), {{rank, kOutput, rank}}, true},
          {{{rank, kOutput, rank}}, outputsBut(rank, n, rank, rank)}};
}

/// Each other rank fetches a share and hands it on to the others. The root has nothing to send.
std::vector<Step> broadcastByOthers(uint32_t n, uint32_t rank, uint32_t root) {
  if (rank != root) {
    const uint32_t share = shareOf(rank, root);
    return {{{{root, kInput, share}}, outputsBut(root, n, rank, share)}};
  }
  std::vector<Step> own;
  for (uint32_t share = 0; share + 1 < n; ++share) own.push_back({{{root, kInput, share}}, {{root, kOutput, share}}});
  return own;
}

/// Each other rank reduces a share and writes it to the root; of two ranks, the root does so itself.
std::vector<Step> reduceByOthers(uint32_t n, uint32_t rank, uint32_t root) {
  if (n == 2 ? rank != root : rank == root) return {};
  const uint32_t share = n == 2 ? 0 : shareOf(rank, root);
  return {{ofEvery(n, kInput, share), {{root, kOutput, share}}, true}};
}

}  // namespace

bool hasLargeProgram(Collective collective) {
  return collective == Collective::allReduce || collective == Collective::broadcast ||
         collective == Collective::reduce || collective == Collective::sendRecv;
}

std::vector<uint8_t> buildLargeProgram(Collective collective, uint32_t n, uint32_t rank, uint32_t root,
                                       uint32_t lanes) {
  Facts facts;
  facts.flags |= kStepByStep;
  switch (collective) {
    case Collective::allReduce:
      facts.chunksPerSegment = n;
      facts.steps = [=](uint32_t r) { return allReduceInPhases(n, r); };
      break;
    case Collective::broadcast:
      facts.chunksPerSegment = n - 1;
      facts.steps = [=](uint32_t r) { return broadcastByOthers(n, r, root); };
      break;
    case Collective::reduce:
      facts.chunksPerSegment = n - 1;
      facts.steps = [=](uint32_t r) { return reduceByOthers(n, r, root); };
      break;
    default:  // a send, which its receiver fetches
      facts.steps = [=](uint32_t r) {
        return r == root ? std::vector<Step>{} : std::vector<Step>{{{{root, kInput, 0}}, {{r, kOutput, 0}}}};
      };
      break;
  }
  return direct::encodeFor(collective, facts, n, rank, root, lanes);
}

}  // namespace dfccl

// Counters, saved queues and traces of a rank's daemon, for whoever measures it.
#include "host/rank/gpu_rank.hpp"

namespace dfccl::gpu {

std::vector<BlockCounters> GpuRank::readCounters() const {
  return std::vector<BlockCounters>(posted_.blocks, posted_.blocks + limits().grid);
}

RankCounters GpuRank::readRankCounters() const { return *posted_.rank; }

std::vector<uint32_t> GpuRank::readSavedLengths() {
  std::vector<BlockMemory> blocks(options_.limits.grid);
  requests_.show(blocks.data(), memory_->blocks.data(), blocks.size() * sizeof(BlockMemory));
  std::vector<uint32_t> lengths;
  for (const BlockMemory& block : blocks) lengths.push_back(block.savedLength);
  return lengths;
}

std::vector<TraceRing> GpuRank::readTraces() {
  std::vector<TraceRing> rings(options_.limits.grid + 1);
  requests_.show(rings.data(), arguments_.traces, rings.size() * sizeof(TraceRing));
  return rings;
}

}  // namespace dfccl::gpu

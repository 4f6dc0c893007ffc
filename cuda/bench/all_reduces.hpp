#pragma once
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "bench/harness.hpp"
#include "bench/pattern.cuh"

namespace dfccl::gpu::bench {

inline std::vector<uint32_t> everyRank(uint32_t ranks) {
  std::vector<uint32_t> list(ranks);
  std::iota(list.begin(), list.end(), 0u);
  return list;
}

/// Several all-reduces that every rank has buffers for.
struct AllReduces {
  AllReduces(Bed& bed, const std::vector<uint64_t>& elementCounts) : counts(elementCounts) {
    size_t bytes = 0;
    for (const uint64_t count : counts) {
      offsets.push_back(bytes);
      bytes += (count * sizeof(float) + 255) / 256 * 256;
    }
    for (uint32_t r = 0; r < bed.ranks(); ++r) {
      send.push_back(std::make_unique<Buffers>(bed.device(r), bytes));
      recv.push_back(std::make_unique<Buffers>(bed.device(r), bytes));
      indices.emplace_back();
      const OnDevice here(bed.device(r));
      for (uint32_t c = 0; c < counts.size(); ++c) {
        CollectiveSpec spec;
        spec.id = c;
        spec.count = counts[c];
        spec.ranks = everyRank(bed.ranks());
        indices[r].push_back(bed.world().registerCollective(r, spec));
        fill(static_cast<float*>(send[r]->at(offsets[c])), counts[c], r, c, send[r]->stream());
      }
      DFCCL_CUDA(cudaStreamSynchronize(send[r]->stream()));
    }
  }

  uint32_t submit(Bed& bed, uint32_t rank, uint32_t c) {
    return bed.submit(rank, indices[rank][c], send[rank]->at(offsets[c]), recv[rank]->at(offsets[c]));
  }
  /// Checks a result and overwrites it, on the rank's own stream.
  void checkAndClear(Bed& bed, uint32_t rank, uint32_t c) {
    auto* data = static_cast<float*>(recv[rank]->at(offsets[c]));
    checkSum(data, counts[c], bed.ranks(), c, recv[rank]->wrong(), recv[rank]->stream());
    DFCCL_CUDA(cudaMemsetAsync(data, 0xff, counts[c] * sizeof(float), recv[rank]->stream()));
  }
  unsigned wrong() {
    unsigned sum = 0;
    for (auto& buffers : recv) sum += buffers->wrongSoFar();
    return sum;
  }

  std::vector<uint64_t> counts;
  std::vector<size_t> offsets;
  std::vector<std::unique_ptr<Buffers>> send, recv;  // [rank]
  std::vector<std::vector<uint32_t>> indices;        // [rank][collective]
};

/// Elements of each all-reduce of a list: "eight", or the gradients of a model of the papers ("resnet50", "gpt2",
/// "vit").
std::vector<uint64_t> elementCountsOf(const std::string& list);

}  // namespace dfccl::gpu::bench

#include "bench/timing.hpp"

#include "bench/all_reduces.hpp"
#include "bench/pattern.cuh"

namespace dfccl::gpu::bench {

RankBuffers buffersOf(Bed& bed, size_t bytes, unsigned streamFlags) {
  RankBuffers buffers;
  for (uint32_t r = 0; r < bed.ranks(); ++r)
    buffers.push_back(std::make_unique<Buffers>(bed.device(r), bytes, streamFlags));
  return buffers;
}

Prepared prepareSum(Bed& bed, RankBuffers& send, uint32_t id, size_t bytes, uint32_t lanes) {
  Prepared prepared{{}, id, bytes / sizeof(float)};
  CollectiveSpec spec;
  spec.id = id;
  spec.count = prepared.count;
  spec.ranks = everyRank(bed.ranks());
  for (uint32_t r = 0; r < bed.ranks(); ++r) {
    const OnDevice here(bed.device(r));
    prepared.indices.push_back(bed.world().registerCollective(r, spec, lanes));
    fill(static_cast<float*>(send[r]->at(0)), prepared.count, r, id, send[r]->stream());
    DFCCL_CUDA(cudaStreamSynchronize(send[r]->stream()));
  }
  return prepared;
}

unsigned wrongOf(Bed& bed, RankBuffers& recv, const Prepared& prepared) {
  unsigned wrong = 0;
  for (uint32_t r = 0; r < bed.ranks(); ++r) {
    const OnDevice here(bed.device(r));
    checkSum(static_cast<float*>(recv[r]->at(0)), prepared.count, bed.ranks(), prepared.id, recv[r]->wrong(),
             recv[r]->stream());
    wrong += recv[r]->wrongSoFar();
  }
  return wrong;
}

std::vector<double> timeOneAtATime(Bed& bed, const Prepared& prepared, RankBuffers& send, RankBuffers& recv,
                                   uint64_t rounds, uint64_t warmUps) {
  std::vector<double> times;
  std::vector<uint32_t> slots(bed.ranks());
  for (uint64_t i = 0; i < rounds + warmUps; ++i) {
    const uint64_t begin = nowNanos();
    for (uint32_t r = 0; r < bed.ranks(); ++r) {
      slots[r] = bed.submit(r, prepared.indices[r], send[r]->at(0), recv[r]->at(0));
    }
    for (uint32_t r = 0; r < bed.ranks(); ++r) bed.await(r, slots[r]);
    if (i >= warmUps) times.push_back(static_cast<double>(nowNanos() - begin) * 1e-3);
  }
  return times;
}

}  // namespace dfccl::gpu::bench

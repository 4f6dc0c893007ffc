#pragma once
// How runs are timed: microseconds from the host's first call to the last completion seen.
#include <algorithm>
#include <memory>
#include <vector>

#include "bench/harness.hpp"

namespace dfccl::gpu::bench {

inline double percentile(std::vector<double> values, double p) {
  std::sort(values.begin(), values.end());
  return values[static_cast<size_t>(p * static_cast<double>(values.size() - 1) + 0.5)];
}
inline double median(std::vector<double> values) { return percentile(std::move(values), 0.5); }

using RankBuffers = std::vector<std::unique_ptr<Buffers>>;  // [rank]

RankBuffers buffersOf(Bed& bed, size_t bytes, unsigned streamFlags = cudaStreamNonBlocking);

/// An all-reduce of float32 that every rank has registered, and its input.
struct Prepared {
  std::vector<uint32_t> indices;  // [rank]
  uint32_t id;
  uint64_t count;
};

/// @param lanes blocks; 0: as the engine chooses.
Prepared prepareSum(Bed& bed, RankBuffers& send, uint32_t id, size_t bytes, uint32_t lanes = 0);
/// Elements of all ranks' last results that are wrong.
unsigned wrongOf(Bed& bed, RankBuffers& recv, const Prepared& prepared);

/// One run after another, all ranks driven by this thread; one time a run after `warmUps` of them.
std::vector<double> timeOneAtATime(Bed& bed, const Prepared& prepared, RankBuffers& send, RankBuffers& recv,
                                   uint64_t rounds, uint64_t warmUps);

/// A thread a rank calls work(rank, round), all beginning together; one time a round after `warmUps` of them.
template <class Work>
std::vector<double> timeTogether(Bed& bed, uint64_t rounds, uint64_t warmUps, const Work& work) {
  ThreadBarrier meeting(bed.ranks());
  std::vector<uint64_t> begins(bed.ranks()), ends(bed.ranks());
  std::vector<double> times;
  bed.onEveryRank([&](uint32_t rank) {
    for (uint64_t i = 0; i < rounds + warmUps; ++i) {
      meeting.wait();
      begins[rank] = nowNanos();
      work(rank, i);
      ends[rank] = nowNanos();
      meeting.wait();
      if (rank == 0 && i >= warmUps) {
        times.push_back(static_cast<double>(*std::max_element(ends.begin(), ends.end()) -
                                            *std::min_element(begins.begin(), begins.end())) *
                        1e-3);
      }
    }
  });
  return times;
}

}  // namespace dfccl::gpu::bench

// Where the time of one collective goes on the device: the daemon's own trace, gap by gap.
#include <algorithm>
#include <cstdio>

#include "bench/harness.hpp"
#include "bench/trace_gaps.hpp"

namespace dfccl::gpu::bench {
int runPhases(const Arguments& arguments) {
  Bed bed(arguments);
  const size_t largest = arguments.number("--max-bytes", size_t{1} << 20);
  const uint64_t rounds = arguments.number("--iterations", 300);
  std::vector<std::unique_ptr<Buffers>> send, recv;
  for (uint32_t r = 0; r < bed.ranks(); ++r) {
    send.push_back(std::make_unique<Buffers>(bed.device(r), largest));
    recv.push_back(std::make_unique<Buffers>(bed.device(r), largest));
  }
  uint32_t id = 0;
  for (size_t bytes = 8; bytes <= largest; bytes *= 16) {
    CollectiveSpec spec;
    spec.id = ++id;
    spec.count = bytes / sizeof(float);
    for (uint32_t r = 0; r < bed.ranks(); ++r) spec.ranks.push_back(r);
    std::vector<uint32_t> indices, slots(bed.ranks());
    for (uint32_t r = 0; r < bed.ranks(); ++r) {
      const OnDevice here(bed.device(r));
      indices.push_back(bed.world().registerCollective(r, spec));
    }
    std::vector<double> times;
    for (uint64_t i = 0; i < rounds; ++i) {
      const uint64_t begin = nowNanos();
      for (uint32_t r = 0; r < bed.ranks(); ++r) slots[r] = bed.submit(r, indices[r], send[r]->at(0), recv[r]->at(0));
      for (uint32_t r = 0; r < bed.ranks(); ++r) bed.await(r, slots[r]);
      times.push_back(static_cast<double>(nowNanos() - begin) * 1e-3);
    }
    for (uint32_t r = 0; r < bed.ranks(); ++r) {
      std::sort(times.begin(), times.end());
      std::printf("{\"bench\":\"phases\",\"bytes\":%zu,\"rank\":%u,\"medianUs\":%.2f,\"gapsNs\":%s}\n", bytes, r,
                  times[times.size() / 2], gapsJson(bed.world().rank(r), nanosPerCycleOf(bed.device(r)), 0).c_str());
    }
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace dfccl::gpu::bench

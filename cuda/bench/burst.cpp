// All gradients of a model at once: this engine in a different random order on every GPU, NCCL in one order. And the
// same with one rank that comes late (DFCCL, Fig. 11).
#include <algorithm>
#include <random>

#include "bench/all_reduces.hpp"
#include "bench/timing.hpp"
#include "bench/trace_gaps.hpp"
#include "nccl/nccl.hpp"

namespace dfccl::gpu::bench {
namespace {

void waitNanos(uint64_t nanos) {
  const uint64_t begin = nowNanos();
  while (nowNanos() - begin < nanos) cpuPause();
}

}  // namespace

/// --list, --rounds; --late-us: how long the last rank waits before its first submission; --nccl PATH compares.
int runBurst(const Arguments& arguments) {
  Bed bed(arguments);
  const std::string list = arguments.text("--list", "resnet50");
  const uint64_t rounds = arguments.number("--rounds", 30);
  const uint64_t lateNanos = arguments.number("--late-us", 0) * 1000;
  AllReduces all(bed, elementCountsOf(list));
  const auto collectives = static_cast<uint32_t>(all.counts.size());
  const auto ours = [&](uint64_t late) {
    return timeTogether(bed, rounds, 2, [&](uint32_t rank, uint64_t round) {
      std::vector<uint32_t> order(collectives), slots(collectives);
      std::iota(order.begin(), order.end(), 0u);
      std::shuffle(order.begin(), order.end(), std::mt19937_64(round * 64 + rank));
      if (late != 0 && rank + 1 == bed.ranks()) waitNanos(late);
      for (uint32_t i = 0; i < collectives; ++i) slots[i] = all.submit(bed, rank, order[i]);
      for (uint32_t i = 0; i < collectives; ++i) bed.await(rank, slots[i]);
    });
  };
  const double burst = median(ours(0));
  std::printf("{\"bench\":\"burst\",\"list\":\"%s\",\"collectives\":%u,\"ranks\":%u,\"sticky\":\"%s\",\"dfcclUs\":%.1f",
              list.c_str(), collectives, bed.ranks(), arguments.text("--sticky", "adaptive").c_str(), burst);
  if (lateNanos != 0) {
    // The late rank's wait is not the engine's: what is left of the time is what the burst took from then on.
    const double late = median(ours(lateNanos)) - static_cast<double>(lateNanos) * 1e-3;
    std::printf(",\"lateUs\":%.0f,\"dfcclAfterLateUs\":%.1f,\"throughputKept\":%.3f",
                static_cast<double>(lateNanos) * 1e-3, late, burst / late);
  }
  const std::string library = arguments.text("--nccl", "");
  if (!library.empty()) {
    std::vector<int> devices;
    for (uint32_t r = 0; r < bed.ranks(); ++r) devices.push_back(bed.device(r));
    Nccl nccl(library, devices);
    const auto theirs = [&](bool isGrouped) {
      return median(timeTogether(bed, rounds, 2, [&](uint32_t rank, uint64_t) {
        if (isGrouped) nccl.groupStart();
        for (uint32_t c = 0; c < collectives; ++c) {
          nccl.allReduce(rank, all.send[rank]->at(all.offsets[c]), all.recv[rank]->at(all.offsets[c]), all.counts[c]);
        }
        if (isGrouped) nccl.groupEnd();
        DFCCL_CUDA(cudaStreamSynchronize(nccl.stream(rank)));
      }));
    };
    const double each = theirs(false), grouped = theirs(true), again = median(ours(0));
    std::printf(",\"dfcclAgainUs\":%.1f,\"ncclUs\":%.1f,\"ncclGroupedUs\":%.1f,\"ratio\":%.2f,\"ratioGrouped\":%.2f",
                again, each, grouped, each / std::max(burst, again), grouped / std::max(burst, again));
  }
  for (uint32_t r = 0; r < bed.ranks(); ++r) {
    const OnDevice here(bed.device(r));
    for (uint32_t c = 0; c < collectives; ++c) all.checkAndClear(bed, r, c);
  }
  const unsigned wrong = all.wrong();
  std::printf(",\"wrong\":%u,\"counters\":%s,\"gapsNs\":[%s,%s]}\n", wrong, bed.countersJson().c_str(),
              gapsJson(bed.world().rank(0), nanosPerCycleOf(bed.device(0)), 0).c_str(),
              gapsJson(bed.world().rank(0), nanosPerCycleOf(bed.device(0)), bed.grid() / 2).c_str());
  return wrong == 0 ? 0 : 1;
}

}  // namespace dfccl::gpu::bench

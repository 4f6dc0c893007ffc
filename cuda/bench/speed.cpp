// From the host's submission on every rank to the last completion seen.
#include <algorithm>

#include "bench/timing.hpp"
#include "bench/trace_gaps.hpp"
#include "world/selection.hpp"

namespace dfccl::gpu::bench {

/// One at a time, lanes as the engine chooses; --sweep 1: on several numbers of them. --min-bytes, --max-bytes, and
/// --factor from one size to the next.
int runLatency(const Arguments& arguments) {
  Bed bed(arguments);
  const size_t largest = arguments.number("--max-bytes", size_t{256} << 20);
  const uint64_t iterations = arguments.number("--iterations", 500);
  RankBuffers send = buffersOf(bed, largest), recv = buffersOf(bed, largest);
  uint32_t id = 0;
  unsigned wrong = 0;
  const uint64_t factor = arguments.number("--factor", 4);
  for (size_t bytes = arguments.number("--min-bytes", 8); bytes <= largest; bytes = bytes == 8 ? 256 : bytes * factor) {
    std::vector<uint32_t> lanesToTry{0};
    if (arguments.number("--sweep", 0) != 0 && bytes >= (64 << 10)) lanesToTry = {1, 2, 4, 8, 16, 32, 64};
    for (const uint32_t lanes : lanesToTry) {
      if (lanes > bed.grid()) continue;
      const Prepared prepared = prepareSum(bed, send, ++id, bytes, lanes);
      const uint64_t rounds = std::max<uint64_t>(10, std::min<uint64_t>(iterations, (size_t{4} << 30) / bytes));
      const std::vector<double> times = timeOneAtATime(bed, prepared, send, recv, rounds, rounds / 5);
      wrong += wrongOf(bed, recv, prepared);
      const double middle = median(times);
      const double busFactor = 2.0 * (bed.ranks() - 1) / bed.ranks();
      std::printf(
          "{\"bench\":\"dfccl one at a time\",\"bytes\":%zu,\"lanes\":%u,\"medianUs\":%.2f,\"p99Us\":%.2f,"
          "\"minUs\":%.2f,\"busGBs\":%.1f,\"wrong\":%u}\n",
          bytes, lanes == 0 ? lanesOnGpus(Collective::allReduce, bytes, bed.ranks(), bed.grid()) : lanes, middle,
          percentile(times, 0.99), percentile(times, 0), busFactor * static_cast<double>(bytes) / middle * 1e-3, wrong);
      std::fflush(stdout);
    }
  }
  std::printf("{\"counters\":%s}\n", bed.countersJson().c_str());
  return wrong == 0 ? 0 : 1;
}

/// --depth collectives outstanding at any time: of distinct ids, or with --ids 1 all of one, as where a program runs
/// the same one back to back. --factor from one size to the next.
int runPipeline(const Arguments& arguments) {
  Bed bed(arguments);
  const auto depth = static_cast<uint32_t>(arguments.number("--depth", 16));
  const auto ids = static_cast<uint32_t>(arguments.number("--ids", depth));
  const uint64_t operations = arguments.number("--operations", 5000);
  const size_t largest = size_t{1} << 20;
  RankBuffers send = buffersOf(bed, largest), recv = buffersOf(bed, largest * depth);
  uint32_t id = 1000;
  for (size_t bytes = 8; bytes <= largest; bytes = bytes == 8 ? 4096 : bytes * arguments.number("--factor", 16)) {
    std::vector<Prepared> prepared;
    for (uint32_t i = 0; i < ids; ++i) prepared.push_back(prepareSum(bed, send, id++, bytes));
    std::vector<std::vector<uint32_t>> slots(depth, std::vector<uint32_t>(bed.ranks()));
    const auto runAll = [&](uint64_t runs) {
      for (uint64_t i = 0; i < runs + depth; ++i) {
        const uint32_t d = static_cast<uint32_t>(i % depth);
        for (uint32_t r = 0; i >= depth && r < bed.ranks(); ++r) bed.await(r, slots[d][r]);
        for (uint32_t r = 0; i < runs && r < bed.ranks(); ++r) {
          slots[d][r] = bed.submit(r, prepared[i % ids].indices[r], send[r]->at(0), recv[r]->at(largest * d));
        }
      }
    };
    // A daemon takes over what was registered before it begins with the first run: not what is measured here.
    runAll(2 * ids);
    const uint64_t begin = nowNanos();
    runAll(operations);
    const double micros = static_cast<double>(nowNanos() - begin) * 1e-3 / static_cast<double>(operations);
    const unsigned wrong = wrongOf(bed, recv, prepared.back());
    std::printf(
        "{\"bench\":\"dfccl "
        "outstanding\",\"bytes\":%zu,\"depth\":%u,\"ids\":%u,\"usPerOperation\":%.2f,\"wrong\":%u}\n",
        bytes, depth, ids, micros, wrong);
    std::fflush(stdout);
    if (wrong != 0) return 1;
    if (arguments.number("--gaps", 0) == 0) continue;
    for (uint32_t block = 0; block < 2; ++block) {
      std::printf("{\"bench\":\"gaps\",\"bytes\":%zu,\"block\":%u,\"gapsNs\":%s}\n", bytes, block,
                  gapsJson(bed.world().rank(0), nanosPerCycleOf(bed.device(0)), block).c_str());
    }
  }
  return 0;
}

}  // namespace dfccl::gpu::bench

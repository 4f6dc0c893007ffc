// All-reduces that a graph carries out, one behind the other: what a node takes, on each GPU or on one that ranks
// share, this engine's and NCCL's.
#include <cstdio>
#include <optional>

#include "bench/all_reduces.hpp"
#include "bench/captured_graph.hpp"
#include "bench/nccl_beside.hpp"
#include "bench/timing.hpp"

namespace dfccl::gpu::bench {
namespace {

using Graphs = std::vector<std::unique_ptr<Graph>>;  // [rank]

/// @return microseconds a node.
double timeGraphs(Bed& bed, const Graphs& graphs, uint64_t length, uint64_t rounds) {
  return median(timeTogether(bed, rounds, 3,
                             [&](uint32_t rank, uint64_t) {
                               graphs[rank]->launch();
                               graphs[rank]->synchronize();
                             })) /
         static_cast<double>(length);
}

}  // namespace

/// --min-bytes, --max-bytes, --length of a graph, --rounds; --nccl PATH compares.
int runGraphs(const Arguments& arguments) {
  Bed bed(arguments);
  const uint64_t length = arguments.number("--length", 200), rounds = arguments.number("--rounds", 50);
  const std::unique_ptr<Nccl> nccl = ncclBeside(bed, arguments);
  unsigned allWrong = 0;
  uint32_t id = 0;
  const size_t largest = arguments.number("--max-bytes", size_t{4} << 20);
  for (size_t bytes = arguments.number("--min-bytes", 8); bytes <= largest; bytes *= bytes < 1024 ? 16 : 2) {
    const uint64_t count = bytes / sizeof(float);
    AllReduces sums(bed, {count});
    std::vector<std::unique_ptr<Graph>> ours(bed.ranks()), theirs(bed.ranks());
    ++id;
    for (uint32_t r = 0; r < bed.ranks(); ++r) {
      const uint32_t index = registerCaptured(bed, r, id, 1, count);
      const OnDevice here(bed.device(r));
      const cudaStream_t stream = sums.recv[r]->stream();
      ours[r] = std::make_unique<Graph>(
          stream, [&] { captureChain(bed, r, index, length, sums.send[r]->at(0), sums.recv[r]->at(0), stream); });
      if (!nccl) continue;
      const cudaStream_t other = nccl->stream(r);
      theirs[r] = std::make_unique<Graph>(other, [&] {
        for (uint64_t i = 0; i < length; ++i) nccl->allReduce(r, sums.send[r]->at(0), sums.recv[r]->at(0), count);
      });
    }
    const double mine = timeGraphs(bed, ours, length, rounds);
    for (uint32_t r = 0; r < bed.ranks(); ++r) sums.checkAndClear(bed, r, 0);
    const unsigned wrong = sums.wrong();
    allWrong += wrong;
    std::printf("{\"bench\":\"graphs\",\"bytes\":%zu,\"ranks\":%u,\"length\":%lu,\"nodeUs\":%.2f,\"wrong\":%u", bytes,
                bed.ranks(), length, mine, wrong);
    if (nccl) std::printf(",\"ncclNodeUs\":%.2f", timeGraphs(bed, theirs, length, rounds));
    std::printf("}\n");
    std::fflush(stdout);
    for (uint32_t r = 0; r < bed.ranks(); ++r) bed.world().unregisterCollective(r, sums.indices[r][0], 0);
  }
  return allWrong == 0 ? 0 : 1;
}

}  // namespace dfccl::gpu::bench

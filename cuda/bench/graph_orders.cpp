// Graphs of the same all-reduces, launched at once on streams of their own, in another order on each rank: whether each
// rank's n-th graph meets the others'.
#include <algorithm>
#include <cstdio>
#include <random>

#include "bench/captured_graph.hpp"

namespace dfccl::gpu::bench {
namespace {

/// A rank's graphs, each with buffers of `sums` and a stream.
class RankGraphs {
 public:
  RankGraphs(Bed& bed, AllReduces& sums, uint32_t rank, const std::vector<uint32_t>& indices, uint64_t length)
      : bed_(bed), sums_(sums), rank_(rank) {
    const OnDevice here(bed.device(rank));
    for (uint32_t g = 0; g < indices.size(); ++g) {
      cudaStream_t stream = nullptr;
      DFCCL_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
      streams_.push_back(stream);
      // A kernel's first launch keeps all streams back: so the check's is here, of the sum of no ranks.
      DFCCL_CUDA(cudaMemsetAsync(recv(g), 0, sums.counts[g] * sizeof(float), stream));
      checkSum(static_cast<float*>(recv(g)), sums.counts[g], 0, g, sums.recv[rank]->wrong(), stream);
      clear(g);
      graphs_.push_back(std::make_unique<Graph>(
          stream, [&] { captureChain(bed, rank, indices[g], length, send(g), recv(g), stream); }));
    }
  }
  ~RankGraphs() {
    const OnDevice here(bed_.device(rank_));
    graphs_.clear();
    for (const cudaStream_t stream : streams_) cudaStreamDestroy(stream);
  }
  RankGraphs(const RankGraphs&) = delete;
  RankGraphs& operator=(const RankGraphs&) = delete;

  /// All of them, each with a check of its result behind it.
  void launch(const std::vector<uint32_t>& order) {
    for (const uint32_t g : order) graphs_[g]->launch();
    for (const uint32_t g : order) {
      const uint64_t count = sums_.counts[g];
      checkSum(static_cast<float*>(recv(g)), count, bed_.ranks(), g, sums_.recv[rank_]->wrong(), streams_[g]);
      clear(g);
    }
  }
  void synchronize() const {
    for (const cudaStream_t stream : streams_) DFCCL_CUDA(cudaStreamSynchronize(stream));
  }

 private:
  void* send(uint32_t g) const { return sums_.send[rank_]->at(sums_.offsets[g]); }
  void* recv(uint32_t g) const { return sums_.recv[rank_]->at(sums_.offsets[g]); }
  void clear(uint32_t g) const {
    DFCCL_CUDA(cudaMemsetAsync(recv(g), 0xff, sums_.counts[g] * sizeof(float), streams_[g]));
  }

  Bed& bed_;
  AllReduces& sums_;
  const uint32_t rank_;
  std::vector<cudaStream_t> streams_;
  std::vector<std::unique_ptr<Graph>> graphs_;
};

}  // namespace

/// --min-bytes, --max-bytes, --graphs, --length of each, --replays, --synchronize-every, --seed; --orders random or
/// one,
/// --match graphs or launches: with random orders the control, which is wrong.
int runGraphOrders(const Arguments& arguments) {
  Bed bed(arguments);
  const auto graphs = static_cast<uint32_t>(arguments.number("--graphs", 3));
  const uint64_t length = arguments.number("--length", 200), replays = arguments.number("--replays", 1000);
  const uint64_t every = arguments.number("--synchronize-every", 5), seed = arguments.number("--seed", 1);
  const std::string orders = arguments.text("--orders", "random"), match = arguments.text("--match", "graphs");
  unsigned allWrong = 0;
  uint32_t id = 0;
  const size_t largest = arguments.number("--max-bytes", size_t{64} << 10);
  for (size_t bytes = arguments.number("--min-bytes", 8); bytes <= largest; bytes *= 8) {
    AllReduces sums(bed, std::vector<uint64_t>(graphs, bytes / sizeof(float)));
    std::vector<std::unique_ptr<RankGraphs>> each;
    ++id;
    for (uint32_t r = 0; r < bed.ranks(); ++r) {
      std::vector<uint32_t> indices;
      for (uint32_t g = 0; g < graphs; ++g) {
        const bool isNew = match != "launches" || g == 0;
        indices.push_back(isNew ? registerCaptured(bed, r, id, g + 1, sums.counts[g]) : indices[0]);
      }
      each.push_back(std::make_unique<RankGraphs>(bed, sums, r, indices, length));
    }
    const uint64_t begin = nowNanos();
    bed.onEveryRank([&](uint32_t rank) {
      std::mt19937 random(static_cast<unsigned>(orders == "one" ? seed : seed * bed.ranks() + rank));
      std::vector<uint32_t> order = everyRank(graphs);
      for (uint64_t i = 0; i < replays; ++i) {
        std::shuffle(order.begin(), order.end(), random);
        each[rank]->launch(order);
        if (i % every == 0) DFCCL_CUDA(cudaDeviceSynchronize());
      }
      each[rank]->synchronize();
    });
    const double seconds = static_cast<double>(nowNanos() - begin) / 1e9;
    const unsigned wrong = sums.wrong();
    allWrong += wrong;
    std::printf(
        "{\"bench\":\"graph-orders\",\"bytes\":%zu,\"ranks\":%u,\"graphs\":%u,\"length\":%lu,\"replays\":%lu,"
        "\"orders\":\"%s\",\"match\":\"%s\",\"seconds\":%.1f,\"wrong\":%u}\n",
        bytes, bed.ranks(), graphs, length, replays, orders.c_str(), match.c_str(), seconds, wrong);
    std::fflush(stdout);
    each.clear();
    for (uint32_t r = 0; r < bed.ranks(); ++r) {
      for (const uint32_t index : sums.indices[r]) bed.world().unregisterCollective(r, index, 0);
    }
  }
  return allWrong == 0 ? 0 : 1;
}

}  // namespace dfccl::gpu::bench

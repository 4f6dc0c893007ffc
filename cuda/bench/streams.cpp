// One all-reduce after another on a stream of each GPU, each behind the one before, and the host waits only for the
// last: this engine's and NCCL's.
#include <cstdio>

#include "bench/pattern.cuh"
#include "bench/timing.hpp"
#include "nccl/nccl.hpp"

namespace dfccl::gpu::bench {
namespace {

void ignore(void*, dfcclResult_t) {}

/// @return microseconds an operation, of `rounds` chains.
std::vector<double> timeChains(Bed& bed, const Prepared& prepared, RankBuffers& send, RankBuffers& recv,
                               uint64_t length, uint64_t rounds) {
  std::vector<double> times = timeTogether(bed, rounds, 2, [&](uint32_t rank, uint64_t) {
    GpuRank& mine = bed.world().rank(rank);
    const cudaStream_t stream = recv[rank]->stream();
    for (uint64_t i = 0; i < length; ++i) {
      const auto submit = [&] {
        return mine.submitOnStream(prepared.indices[rank], send[rank]->at(0), recv[rank]->at(0), stream, ignore,
                                   nullptr);
      };
      while (submit() == GpuRank::kFull) mine.queues().deliver();
      mine.waitOnStream(prepared.indices[rank], stream);
    }
    DFCCL_CUDA(cudaStreamSynchronize(stream));
    while (mine.inFlight() != 0) mine.queues().deliver();
  });
  for (double& time : times) time /= static_cast<double>(length);
  return times;
}

}  // namespace

/// --max-bytes, --length of a chain, --rounds; --nccl PATH compares.
int runStreams(const Arguments& arguments) {
  Bed bed(arguments);
  const size_t largest = arguments.number("--max-bytes", size_t{4} << 20);
  const uint64_t length = arguments.number("--length", 100), rounds = arguments.number("--rounds", 20);
  RankBuffers send = buffersOf(bed, largest), recv = buffersOf(bed, largest);
  const std::string library = arguments.text("--nccl", "");
  std::unique_ptr<Nccl> nccl;
  if (!library.empty()) {
    std::vector<int> devices;
    for (uint32_t r = 0; r < bed.ranks(); ++r) devices.push_back(bed.device(r));
    nccl = std::make_unique<Nccl>(library, devices);
  }
  uint32_t id = 0;
  unsigned allWrong = 0;
  for (size_t bytes = 8; bytes <= largest; bytes *= 8) {
    const Prepared prepared = prepareSum(bed, send, ++id, bytes);
    const double chained = median(timeChains(bed, prepared, send, recv, length, rounds));
    const double single = median(timeChains(bed, prepared, send, recv, 1, rounds * 5));
    const unsigned wrong = wrongOf(bed, recv, prepared);
    allWrong += wrong;
    std::printf(
        "{\"bench\":\"streams\",\"bytes\":%zu,\"ranks\":%u,\"length\":%lu,\"chainedUs\":%.2f,\"singleUs\":%.2f,"
        "\"wrong\":%u",
        bytes, bed.ranks(), length, chained, single, wrong);
    if (nccl) {
      const auto theirs = [&](uint64_t count) {
        return median(timeTogether(bed, rounds, 2,
                                   [&](uint32_t rank, uint64_t) {
                                     for (uint64_t i = 0; i < count; ++i) {
                                       nccl->allReduce(rank, send[rank]->at(0), recv[rank]->at(0), prepared.count);
                                     }
                                     DFCCL_CUDA(cudaStreamSynchronize(nccl->stream(rank)));
                                   })) /
               static_cast<double>(count);
      };
      const double theirChain = theirs(length), theirSingle = theirs(1);
      std::printf(",\"ncclChainedUs\":%.2f,\"ncclSingleUs\":%.2f", theirChain, theirSingle);
    }
    std::printf("}\n");
    std::fflush(stdout);
  }
  std::printf("{\"bench\":\"streams\",\"counters\":%s}\n", bed.countersJson().c_str());
  return allWrong == 0 ? 0 : 1;
}

}  // namespace dfccl::gpu::bench

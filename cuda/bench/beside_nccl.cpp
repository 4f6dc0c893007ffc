// This engine and NCCL in one process, by turns; and NCCL in the orders that it can't do.
//
// `dfccl perf --backend cuda,nccl` (cuda/measure) measures the same two as nccl-tests does, through the C API, each in
// a process of its own, as users would. `compare` is the engine beneath that, timed an operation at a time by the
// harness of the other benchmarks here: what it shows beside their figures is what the C API and the loop around it
// cost, and its series goes back to before there was a `perf`.
#include <algorithm>

#include "bench/timing.hpp"
#include "nccl/nccl.hpp"
#include "world/selection.hpp"

namespace dfccl::gpu::bench {
namespace {

constexpr uint64_t kWarmUps = 3;

/// One all-reduce at a time, a thread a GPU: from the first thread's call to the last thread's stream being done.
double ncclOneAtATime(Bed& bed, Nccl& nccl, RankBuffers& send, RankBuffers& recv, size_t count, uint64_t rounds) {
  return median(timeTogether(bed, rounds, kWarmUps, [&](uint32_t rank, uint64_t) {
    nccl.allReduce(rank, send[rank]->at(0), recv[rank]->at(0), count);
    DFCCL_CUDA(cudaStreamSynchronize(nccl.stream(rank)));
  }));
}

double ncclBackToBack(Bed& bed, Nccl& nccl, RankBuffers& send, RankBuffers& recv, size_t count, uint64_t operations) {
  const double all = median(timeTogether(bed, 1, 0, [&](uint32_t rank, uint64_t) {
    for (uint64_t i = 0; i < operations; ++i) nccl.allReduce(rank, send[rank]->at(0), recv[rank]->at(0), count);
    DFCCL_CUDA(cudaStreamSynchronize(nccl.stream(rank)));
  }));
  return all / static_cast<double>(operations);
}

}  // namespace

int runCompare(const Arguments& arguments) {
  Bed bed(arguments);
  const size_t largest = arguments.number("--max-bytes", size_t{1} << 30);
  std::vector<int> devices;
  RankBuffers send = buffersOf(bed, largest), recv = buffersOf(bed, largest);
  for (uint32_t r = 0; r < bed.ranks(); ++r) devices.push_back(bed.device(r));
  Nccl nccl(arguments.text("--nccl", "libnccl.so.2"), devices);
  uint32_t id = 0;
  for (size_t bytes = 8; bytes <= largest; bytes = bytes == 8 ? 256 : bytes * 4) {
    const Prepared prepared = prepareSum(bed, send, ++id, bytes);
    const uint64_t rounds = std::max<uint64_t>(5, std::min<uint64_t>(200, (size_t{1} << 30) / bytes));
    std::vector<double> ours, theirs, backToBack;
    for (int turn = 0; turn < 5; ++turn) {
      ours.push_back(median(timeOneAtATime(bed, prepared, send, recv, rounds, kWarmUps)));
      theirs.push_back(ncclOneAtATime(bed, nccl, send, recv, prepared.count, rounds));
      backToBack.push_back(ncclBackToBack(bed, nccl, send, recv, prepared.count, rounds));
    }
    // A last run of this engine, after NCCL's results were overwritten, so that the check is of its own.
    for (uint32_t r = 0; r < bed.ranks(); ++r) {
      const OnDevice here(bed.device(r));
      DFCCL_CUDA(cudaMemsetAsync(recv[r]->at(0), 0xff, bytes, recv[r]->stream()));
      DFCCL_CUDA(cudaStreamSynchronize(recv[r]->stream()));
    }
    timeOneAtATime(bed, prepared, send, recv, 1, 0);
    const unsigned wrong = wrongOf(bed, recv, prepared);
    const double mine = median(ours), its = median(theirs);
    const double bus = 2.0 * (bed.ranks() - 1) / bed.ranks() * static_cast<double>(bytes) * 1e-3;
    std::printf(
        "{\"bench\":\"beside "
        "NCCL\",\"nccl\":%d,\"ranks\":%u,\"bytes\":%zu,\"lanes\":%u,\"dfcclUs\":%.2f,\"ncclUs\":%.2f,"
        "\"ncclBackToBackUs\":%.2f,\"ratio\":%.2f,\"dfcclBusGBs\":%.1f,\"ncclBusGBs\":%.1f,"
        "\"ncclBackToBackBusGBs\":%.1f,\"wrong\":%u}\n",
        nccl.library().version, bed.ranks(), bytes, lanesOnGpus(Collective::allReduce, bytes, bed.ranks(), bed.grid()),
        mine, its, median(backToBack), its / mine, bus / mine, bus / its, bus / median(backToBack), wrong);
    std::fflush(stdout);
  }
  return 0;
}

/// NCCL in opposite orders: two communicators' worth of all-reduces on one stream a GPU, as a program without a
/// coordinator would issue them. It never ends; whoever starts this sets a timeout.
int runNcclOrders(const Arguments& arguments) {
  Bed bed(arguments);
  std::vector<int> devices;
  std::vector<std::unique_ptr<Buffers>> buffers;
  const size_t bytes = size_t{16} << 20;
  for (uint32_t r = 0; r < bed.ranks(); ++r) {
    devices.push_back(bed.device(r));
    buffers.push_back(std::make_unique<Buffers>(bed.device(r), 4 * bytes));
  }
  const std::string path = arguments.text("--nccl", "libnccl.so.2");
  Nccl first(path, devices), second(path, devices);
  const bool ordered = arguments.number("--ordered", 0) != 0;
  const uint64_t iterations = arguments.number("--iterations", 100);
  for (uint64_t i = 0; i < iterations; ++i) {
    bed.onEveryRank([&](uint32_t rank) {
      Nccl* order[2] = {&first, &second};
      if (rank % 2 != 0 && !ordered) std::swap(order[0], order[1]);
      for (Nccl* nccl : order) {
        const size_t offset = nccl == &first ? 0 : 2 * bytes;
        nccl->allReduce(rank, buffers[rank]->at(offset), buffers[rank]->at(offset + bytes), bytes / sizeof(float),
                        first.stream(rank));
        DFCCL_CUDA(cudaDeviceSynchronize());
      }
    });
    std::printf("{\"nccl\":%d,\"ordered\":%d,\"iteration\":%lu}\n", first.library().version, ordered, i);
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace dfccl::gpu::bench

// This engine and NCCL in one process, by turns; and NCCL in the orders that it can't do.
#include <algorithm>
#include <random>

#include "bench/harness.hpp"
#include "bench/pattern.cuh"
#include "nccl/nccl.hpp"

namespace dfccl::gpu::bench {
namespace {

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// One all-reduce at a time, a thread a GPU: from the first thread's call to the last thread's stream being done.
double ncclOneAtATime(Bed& bed, Nccl& nccl, std::vector<std::unique_ptr<Buffers>>& send,
                      std::vector<std::unique_ptr<Buffers>>& recv, size_t count, uint64_t rounds) {
  Meeting meeting(bed.ranks());
  std::vector<uint64_t> begins(bed.ranks()), ends(bed.ranks());
  std::vector<double> times;
  bed.onEveryRank([&](uint32_t rank) {
    for (uint64_t i = 0; i < rounds + 3; ++i) {
      meeting.wait();
      begins[rank] = nowNanos();
      nccl.allReduce(rank, send[rank]->at(0), recv[rank]->at(0), count);
      DFCCL_CUDA(cudaStreamSynchronize(nccl.stream(rank)));
      ends[rank] = nowNanos();
      meeting.wait();
      if (rank == 0 && i >= 3) {
        times.push_back(static_cast<double>(*std::max_element(ends.begin(), ends.end()) -
                                            *std::min_element(begins.begin(), begins.end())) *
                        1e-3);
      }
    }
  });
  return median(times);
}

double ncclBackToBack(Bed& bed, Nccl& nccl, std::vector<std::unique_ptr<Buffers>>& send,
                      std::vector<std::unique_ptr<Buffers>>& recv, size_t count, uint64_t operations) {
  Meeting meeting(bed.ranks());
  std::vector<uint64_t> begins(bed.ranks()), ends(bed.ranks());
  bed.onEveryRank([&](uint32_t rank) {
    meeting.wait();
    begins[rank] = nowNanos();
    for (uint64_t i = 0; i < operations; ++i) nccl.allReduce(rank, send[rank]->at(0), recv[rank]->at(0), count);
    DFCCL_CUDA(cudaStreamSynchronize(nccl.stream(rank)));
    ends[rank] = nowNanos();
  });
  return static_cast<double>(*std::max_element(ends.begin(), ends.end()) -
                             *std::min_element(begins.begin(), begins.end())) *
         1e-3 / static_cast<double>(operations);
}

double dfcclOneAtATime(Bed& bed, const std::vector<uint32_t>& indices, std::vector<std::unique_ptr<Buffers>>& send,
                       std::vector<std::unique_ptr<Buffers>>& recv, uint64_t rounds) {
  std::vector<double> times;
  std::vector<uint32_t> slots(bed.ranks());
  for (uint64_t i = 0; i < rounds + 3; ++i) {
    const uint64_t begin = nowNanos();
    for (uint32_t r = 0; r < bed.ranks(); ++r) slots[r] = bed.submit(r, indices[r], send[r]->at(0), recv[r]->at(0));
    for (uint32_t r = 0; r < bed.ranks(); ++r) bed.await(r, slots[r]);
    if (i >= 3) times.push_back(static_cast<double>(nowNanos() - begin) * 1e-3);
  }
  return median(times);
}

}  // namespace

int runCompare(const Arguments& arguments) {
  Bed bed(arguments);
  const size_t largest = arguments.number("--max-bytes", size_t{1} << 30);
  std::vector<int> devices;
  std::vector<std::unique_ptr<Buffers>> send, recv;
  for (uint32_t r = 0; r < bed.ranks(); ++r) {
    devices.push_back(bed.device(r));
    send.push_back(std::make_unique<Buffers>(bed.device(r), largest));
    recv.push_back(std::make_unique<Buffers>(bed.device(r), largest));
  }
  Nccl nccl(arguments.text("--nccl", "libnccl.so.2"), devices);
  uint32_t id = 0;
  for (size_t bytes = 8; bytes <= largest; bytes = bytes == 8 ? 256 : bytes * 4) {
    CollectiveSpec spec;
    spec.id = ++id;
    spec.count = bytes / sizeof(float);
    for (uint32_t r = 0; r < bed.ranks(); ++r) spec.ranks.push_back(r);
    std::vector<uint32_t> indices;
    for (uint32_t r = 0; r < bed.ranks(); ++r) {
      const OnDevice here(bed.device(r));
      indices.push_back(bed.world().registerCollective(r, spec));
      fill(static_cast<float*>(send[r]->at(0)), spec.count, r, id, send[r]->stream());
      DFCCL_CUDA(cudaStreamSynchronize(send[r]->stream()));
    }
    const uint64_t rounds = std::max<uint64_t>(5, std::min<uint64_t>(200, (size_t{1} << 30) / bytes));
    std::vector<double> ours, theirs, backToBack;
    for (int turn = 0; turn < 5; ++turn) {
      ours.push_back(dfcclOneAtATime(bed, indices, send, recv, rounds));
      theirs.push_back(ncclOneAtATime(bed, nccl, send, recv, spec.count, rounds));
      backToBack.push_back(ncclBackToBack(bed, nccl, send, recv, spec.count, rounds));
    }
    // A last run of this engine, after NCCL's results were overwritten, so that the check is of its own.
    for (uint32_t r = 0; r < bed.ranks(); ++r) {
      const OnDevice here(bed.device(r));
      DFCCL_CUDA(cudaMemsetAsync(recv[r]->at(0), 0xff, bytes, recv[r]->stream()));
      DFCCL_CUDA(cudaStreamSynchronize(recv[r]->stream()));
    }
    dfcclOneAtATime(bed, indices, send, recv, 1);
    unsigned wrong = 0;
    for (uint32_t r = 0; r < bed.ranks(); ++r) {
      const OnDevice here(bed.device(r));
      checkSum(static_cast<float*>(recv[r]->at(0)), spec.count, bed.ranks(), id, recv[r]->wrong(), recv[r]->stream());
      wrong += recv[r]->wrongSoFar();
    }
    const double mine = median(ours), its = median(theirs);
    const double bus = 2.0 * (bed.ranks() - 1) / bed.ranks() * static_cast<double>(bytes) * 1e-3;
    std::printf(
        "{\"bench\":\"beside "
        "NCCL\",\"nccl\":%d,\"ranks\":%u,\"bytes\":%zu,\"lanes\":%u,\"dfcclUs\":%.2f,\"ncclUs\":%.2f,"
        "\"ncclBackToBackUs\":%.2f,\"ratio\":%.2f,\"dfcclBusGBs\":%.1f,\"ncclBusGBs\":%.1f,"
        "\"ncclBackToBackBusGBs\":%.1f,\"wrong\":%u}\n",
        nccl.library().version, bed.ranks(), bytes, lanesFor(Collective::allReduce, bytes, bed.ranks(), bed.grid()),
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

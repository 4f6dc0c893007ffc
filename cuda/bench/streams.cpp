// One all-reduce after another on a stream of each GPU, each behind the one before, and the host waits only for the
// last: this engine's and NCCL's.
#include <cstdio>
#include <functional>
#include <optional>

#include "bench/nccl_beside.hpp"
#include "bench/pattern.cuh"
#include "bench/timing.hpp"
#include "bench/trace_gaps.hpp"
#include "host/driver/memory.hpp"
#include "host/driver/stream_memory.hpp"
#include "host/rank/device_waits.hpp"

namespace dfccl::gpu::bench {
namespace {

void ignore(void*, dfcclResult_t) {}

/// What the host's calls take of rank 0, microseconds each.
struct HostTimes {
  double submit = 0, wait = 0;
};

/// As Backend::submitOnStream().
uint32_t submitOnStream(GpuRank& rank, uint32_t index, const void* send, void* recv, cudaStream_t stream) {
  const auto entered = rank.enterStream(stream);
  if (!entered) return GpuRank::kFull;
  const uint32_t slot = entered->submit(index, send, recv, ignore, nullptr, {});
  if (RankQueues::isTaken(slot)) entered->arrive();
  return slot;
}

/// Puts a run on the rank's stream, and lets the stream wait for it.
void putLink(GpuRank& rank, uint32_t index, Buffers& send, Buffers& recv) {
  const auto submit = [&] { return submitOnStream(rank, index, send.at(0), recv.at(0), recv.stream()); };
  while (submit() == GpuRank::kFull) rank.queues().deliver();
  rank.waitOnStream(index, recv.stream(), Backend::kAllRuns);
}

/// What a link takes the host and the device by themselves, microseconds.
struct LinkTimes {
  double enqueue = 0, device = 0;
};

/// All of a chain is put on the streams while they are kept back, and then they are let go.
/// @param streamOf a rank's. @param put puts a link on it
LinkTimes timeKeptBack(Bed& bed, const std::function<cudaStream_t(uint32_t rank)>& streamOf,
                       const std::function<void(uint32_t rank)>& put, uint64_t length, uint64_t rounds) {
  PinnedMemory pinned(256);
  auto& gate = *new (pinned.take(sizeof(Atomic<uint32_t>))) Atomic<uint32_t>{};
  ThreadBarrier meeting(bed.ranks());
  std::vector<uint64_t> ends(bed.ranks());
  uint64_t opened = 0;
  std::vector<double> enqueues, links;
  bed.onEveryRank([&](uint32_t rank) {
    const cudaStream_t stream = streamOf(rank);
    for (uint32_t round = 1; round <= rounds + 2; ++round) {
      meeting.wait();
      waitOnStreamFor(stream, &gate, round);
      meeting.wait();
      const uint64_t begin = nowNanos();
      for (uint64_t i = 0; i < length; ++i) put(rank);
      const uint64_t enqueued = nowNanos();
      meeting.wait();
      if (rank == 0) {
        opened = nowNanos();
        gate.store(round, order::seqCst);
      }
      DFCCL_CUDA(cudaStreamSynchronize(stream));
      ends[rank] = nowNanos();
      while (bed.world().rank(rank).inFlight() != 0) bed.world().rank(rank).queues().deliver();
      meeting.wait();
      if (rank != 0 || round <= 2) continue;
      const double each = 1e-3 / static_cast<double>(length);
      enqueues.push_back(static_cast<double>(enqueued - begin) * each);
      links.push_back(static_cast<double>(*std::max_element(ends.begin(), ends.end()) - opened) * each);
    }
  });
  return {median(enqueues), median(links)};
}

/// @return microseconds an operation, of `rounds` chains.
std::vector<double> timeChains(Bed& bed, const Prepared& prepared, RankBuffers& send, RankBuffers& recv,
                               uint64_t length, uint64_t rounds, HostTimes& host) {
  std::vector<double> submits, waits;  // rank 0's
  std::vector<double> times = timeTogether(bed, rounds, 2, [&](uint32_t rank, uint64_t) {
    GpuRank& mine = bed.world().rank(rank);
    const cudaStream_t stream = recv[rank]->stream();
    for (uint64_t i = 0; i < length; ++i) {
      const auto submit = [&] {
        return submitOnStream(mine, prepared.indices[rank], send[rank]->at(0), recv[rank]->at(0), stream);
      };
      const uint64_t begin = nowNanos();
      while (submit() == GpuRank::kFull) mine.queues().deliver();
      const uint64_t submitted = nowNanos();
      mine.waitOnStream(prepared.indices[rank], stream, Backend::kAllRuns);
      if (rank != 0) continue;
      submits.push_back(static_cast<double>(submitted - begin) / 1e3);
      waits.push_back(static_cast<double>(nowNanos() - submitted) / 1e3);
    }
    DFCCL_CUDA(cudaStreamSynchronize(stream));
    while (mine.inFlight() != 0) mine.queues().deliver();
  });
  for (double& time : times) time /= static_cast<double>(length);
  host = {median(submits), median(waits)};
  return times;
}

}  // namespace

/// --max-bytes, --length of a chain, --rounds; --blocking 1: streams that synchronize with the default one; --gaps 1
/// shows where the time of a chain goes; --nccl PATH compares.
int runStreams(const Arguments& arguments) {
  Bed bed(arguments);
  const size_t largest = arguments.number("--max-bytes", size_t{4} << 20);
  const uint64_t length = arguments.number("--length", 100), rounds = arguments.number("--rounds", 20);
  const bool isBlocking = arguments.number("--blocking", 0) != 0;
  const unsigned flags = isBlocking ? cudaStreamDefault : cudaStreamNonBlocking;
  RankBuffers send = buffersOf(bed, largest, flags), recv = buffersOf(bed, largest, flags);
  const std::unique_ptr<Nccl> nccl = ncclBeside(bed, arguments);
  uint32_t id = 0;
  unsigned allWrong = 0;
  for (size_t bytes = arguments.number("--min-bytes", 8); bytes <= largest; bytes *= 8) {
    const Prepared prepared = prepareSum(bed, send, ++id, bytes);
    HostTimes host, alone;
    const double chained = median(timeChains(bed, prepared, send, recv, length, rounds, host));
    const double single = median(timeChains(bed, prepared, send, recv, 1, rounds * 5, alone));
    // Where the host waits in the streams' place, nothing can be put behind a closed gate.
    std::optional<LinkTimes> keptBack;
    if (DeviceWaits::of(bed.device(0))->obstacle() == nullptr) {
      const auto put = [&](uint32_t rank) {
        putLink(bed.world().rank(rank), prepared.indices[rank], *send[rank], *recv[rank]);
      };
      keptBack = timeKeptBack(
          bed, [&](uint32_t rank) { return recv[rank]->stream(); }, put, length, rounds);
    }
    for (uint32_t block = 0; arguments.number("--gaps", 0) != 0 && block < 2; ++block) {
      std::printf("{\"bench\":\"gaps\",\"bytes\":%zu,\"block\":%u,\"gapsNs\":%s}\n", bytes, block,
                  gapsJson(bed.world().rank(0), nanosPerCycleOf(bed.device(0)), block).c_str());
    }
    for (uint32_t r = 0; arguments.number("--moments", 0) != 0 && r < bed.ranks(); ++r) {
      std::printf("rank %u, block 0:\n%s", r,
                  lastMoments(bed.world().rank(r), nanosPerCycleOf(bed.device(r)), 0, arguments.number("--moments", 0))
                      .c_str());
    }
    const unsigned wrong = wrongOf(bed, recv, prepared);
    allWrong += wrong;
    std::printf(
        "{\"bench\":\"streams\",\"blocking\":%d,\"bytes\":%zu,\"ranks\":%u,\"length\":%lu,\"chainedUs\":%.2f,"
        "\"singleUs\":%.2f,"
        "\"submitUs\":%.2f,\"waitUs\":%.2f,\"wrong\":%u",
        isBlocking, bytes, bed.ranks(), length, chained, single, host.submit, host.wait, wrong);
    if (keptBack) std::printf(",\"enqueueUs\":%.2f,\"deviceUs\":%.2f", keptBack->enqueue, keptBack->device);
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
      const auto put = [&](uint32_t rank) {
        nccl->allReduce(rank, send[rank]->at(0), recv[rank]->at(0), prepared.count);
      };
      const LinkTimes link = timeKeptBack(
          bed, [&](uint32_t rank) { return nccl->stream(rank); }, put, length, rounds);
      const auto next = [&](uint32_t rank) { return (rank + 1) % bed.ranks(); };
      const auto exchange = [&](uint32_t rank) {
        nccl->groupStart();
        nccl->send(rank, send[rank]->at(0), prepared.count, next(rank));
        nccl->receive(rank, recv[rank]->at(0), prepared.count, (rank + bed.ranks() - 1) % bed.ranks());
        nccl->groupEnd();
      };
      // NVIDIA's connects neighbours when they first send, which waits for the host.
      bed.onEveryRank([&](uint32_t rank) {
        exchange(rank);
        DFCCL_CUDA(cudaStreamSynchronize(nccl->stream(rank)));
      });
      const LinkTimes exchanged = timeKeptBack(
          bed, [&](uint32_t rank) { return nccl->stream(rank); }, exchange, length, rounds);
      const auto sendOn = [&](uint32_t rank) {
        if (rank == 0) nccl->send(rank, send[rank]->at(0), prepared.count, 1);
        if (rank == 1) nccl->receive(rank, recv[rank]->at(0), prepared.count, 0);
      };
      const LinkTimes sent = timeKeptBack(
          bed, [&](uint32_t rank) { return nccl->stream(rank); }, sendOn, length, rounds);
      const auto gather = [&](uint32_t rank) {
        nccl->allGather(rank, send[rank]->at(0), recv[rank]->at(0), prepared.count / bed.ranks());
      };
      const LinkTimes gathered = timeKeptBack(
          bed, [&](uint32_t rank) { return nccl->stream(rank); }, gather, length, rounds);
      std::printf(",\"ncclExchangeUs\":%.2f,\"ncclMessageUs\":%.2f,\"ncclGatherUs\":%.2f", exchanged.device,
                  sent.device, gathered.device);
      std::printf(",\"ncclChainedUs\":%.2f,\"ncclSingleUs\":%.2f,\"ncclEnqueueUs\":%.2f,\"ncclDeviceUs\":%.2f",
                  theirChain, theirSingle, link.enqueue, link.device);
    }
    std::printf("}\n");
    std::fflush(stdout);
  }
  std::printf("{\"bench\":\"streams\",\"counters\":%s}\n", bed.countersJson().c_str());
  return allWrong == 0 ? 0 : 1;
}

}  // namespace dfccl::gpu::bench

// From the host's submission on every rank to the last completion seen.
#include <algorithm>
#include <cstring>
#include <numeric>

#include "bench/harness.hpp"
#include "bench/pattern.cuh"

namespace dfccl::gpu::bench {
namespace {

double percentile(std::vector<double>& values, double p) {
  std::sort(values.begin(), values.end());
  return values[static_cast<size_t>(p * static_cast<double>(values.size() - 1) + 0.5)];
}

struct Prepared {
  std::vector<uint32_t> indices;  // [rank]
  uint64_t count;
};

Prepared prepare(Bed& bed, std::vector<std::unique_ptr<Buffers>>& send, uint32_t id, size_t bytes, uint32_t lanes) {
  Prepared prepared{{}, bytes / sizeof(float)};
  CollectiveSpec spec;
  spec.id = id;
  spec.count = prepared.count;
  for (uint32_t r = 0; r < bed.ranks(); ++r) spec.ranks.push_back(r);
  for (uint32_t r = 0; r < bed.ranks(); ++r) {
    const OnDevice here(bed.device(r));
    prepared.indices.push_back(bed.world().registerCollective(r, spec, lanes));
    fill(static_cast<float*>(send[r]->at(0)), prepared.count, r, id, send[r]->stream());
    DFCCL_CUDA(cudaStreamSynchronize(send[r]->stream()));
  }
  return prepared;
}

unsigned wrongOf(Bed& bed, std::vector<std::unique_ptr<Buffers>>& recv, const Prepared& prepared, uint32_t id) {
  unsigned wrong = 0;
  for (uint32_t r = 0; r < bed.ranks(); ++r) {
    const OnDevice here(bed.device(r));
    checkSum(static_cast<float*>(recv[r]->at(0)), prepared.count, bed.ranks(), id, recv[r]->wrong(), recv[r]->stream());
    wrong += recv[r]->wrongSoFar();
  }
  return wrong;
}

}  // namespace

/// One at a time. --bytes and --lanes choose one case; otherwise every size, lanes as the engine chooses.
int runLatency(const Arguments& arguments) {
  Bed bed(arguments);
  const size_t largest = arguments.number("--max-bytes", size_t{256} << 20);
  const uint64_t iterations = arguments.number("--iterations", 500);
  std::vector<std::unique_ptr<Buffers>> send, recv;
  for (uint32_t r = 0; r < bed.ranks(); ++r) {
    send.push_back(std::make_unique<Buffers>(bed.device(r), largest));
    recv.push_back(std::make_unique<Buffers>(bed.device(r), largest));
  }
  uint32_t id = 0;
  unsigned wrong = 0;
  for (size_t bytes = 8; bytes <= largest; bytes = bytes == 8 ? 256 : bytes * 4) {
    std::vector<uint32_t> lanesToTry{0};
    if (arguments.number("--sweep", 0) != 0 && bytes >= (64 << 10)) lanesToTry = {1, 2, 4, 8, 16, 32, 64};
    for (const uint32_t lanes : lanesToTry) {
      if (lanes > bed.grid()) continue;
      const Prepared prepared = prepare(bed, send, ++id, bytes, lanes);
      const uint64_t rounds = std::max<uint64_t>(10, std::min<uint64_t>(iterations, (size_t{4} << 30) / bytes));
      std::vector<double> times;
      std::vector<uint32_t> slots(bed.ranks());
      for (uint64_t i = 0; i < rounds + rounds / 5; ++i) {
        const uint64_t begin = nowNanos();
        for (uint32_t r = 0; r < bed.ranks(); ++r) {
          slots[r] = bed.submit(r, prepared.indices[r], send[r]->at(0), recv[r]->at(0));
        }
        for (uint32_t r = 0; r < bed.ranks(); ++r) bed.await(r, slots[r]);
        if (i >= rounds / 5) times.push_back(static_cast<double>(nowNanos() - begin) * 1e-3);
      }
      wrong += wrongOf(bed, recv, prepared, id);
      const double median = percentile(times, 0.5);
      const double busFactor = 2.0 * (bed.ranks() - 1) / bed.ranks();
      std::printf(
          "{\"bench\":\"dfccl one at a time\",\"bytes\":%zu,\"lanes\":%u,\"medianUs\":%.2f,\"p99Us\":%.2f,"
          "\"minUs\":%.2f,\"busGBs\":%.1f,\"wrong\":%u}\n",
          bytes, lanes == 0 ? lanesFor(Collective::allReduce, bytes, bed.ranks(), bed.grid()) : lanes, median,
          percentile(times, 0.99), percentile(times, 0), busFactor * static_cast<double>(bytes) / median * 1e-3, wrong);
      std::fflush(stdout);
    }
  }
  std::printf("{\"counters\":%s}\n", bed.countersJson().c_str());
  return wrong == 0 ? 0 : 1;
}

/// --depth collectives of distinct ids outstanding at any time.
int runPipeline(const Arguments& arguments) {
  Bed bed(arguments);
  const auto depth = static_cast<uint32_t>(arguments.number("--depth", 16));
  const uint64_t operations = arguments.number("--operations", 5000);
  const size_t largest = size_t{1} << 20;
  std::vector<std::unique_ptr<Buffers>> send, recv;
  for (uint32_t r = 0; r < bed.ranks(); ++r) {
    send.push_back(std::make_unique<Buffers>(bed.device(r), largest));
    recv.push_back(std::make_unique<Buffers>(bed.device(r), largest * depth));
  }
  uint32_t id = 1000;
  for (size_t bytes = 8; bytes <= largest; bytes = bytes == 8 ? 4096 : bytes * 16) {
    std::vector<Prepared> prepared;
    for (uint32_t d = 0; d < depth; ++d) prepared.push_back(prepare(bed, send, id++, bytes, 0));
    std::vector<std::vector<uint32_t>> slots(depth, std::vector<uint32_t>(bed.ranks()));
    const uint64_t begin = nowNanos();
    for (uint64_t i = 0; i < operations + depth; ++i) {
      const uint32_t d = static_cast<uint32_t>(i % depth);
      for (uint32_t r = 0; i >= depth && r < bed.ranks(); ++r) bed.await(r, slots[d][r]);
      for (uint32_t r = 0; i < operations && r < bed.ranks(); ++r) {
        slots[d][r] = bed.submit(r, prepared[d].indices[r], send[r]->at(0), recv[r]->at(largest * d));
      }
    }
    const double micros = static_cast<double>(nowNanos() - begin) * 1e-3 / static_cast<double>(operations);
    std::printf("{\"bench\":\"dfccl outstanding\",\"bytes\":%zu,\"depth\":%u,\"usPerOperation\":%.2f}\n", bytes, depth,
                micros);
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace dfccl::gpu::bench

// Results, bit for bit: every type and operator against the CPU's reference, and collectives in any order.
#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>

#include "bench/all_reduces.hpp"
#include "bench/harness.hpp"
#include "bench/pattern.cuh"

namespace dfccl::gpu::bench {
namespace {

const char* const kOpNames[kReduceOpCount] = {"sum",       "prod",   "min",   "max",   "avg",
                                              "scaledSum", "bitAnd", "bitOr", "bitXor"};

/// One all-reduce of random bits against the reference. @return elements' bytes that differ, over all ranks.
size_t checkType(Bed& bed, std::vector<std::unique_ptr<Buffers>>& buffers, uint32_t id, DataType type, ReduceOp op,
                 uint64_t count, uint32_t lanes, std::mt19937_64& random) {
  const size_t bytes = count * sizeOf(type);
  const size_t half = size_t{8} << 20;
  CollectiveSpec spec;
  spec.id = id;
  spec.type = type;
  spec.op = op;
  spec.count = count;
  spec.ranks = everyRank(bed.ranks());
  std::vector<std::vector<uint8_t>> inputs(bed.ranks(), std::vector<uint8_t>(bytes));
  std::vector<const void*> sources;
  std::vector<double> scales;
  std::vector<uint32_t> indices, slots;
  for (uint32_t r = 0; r < bed.ranks(); ++r) {
    for (uint8_t& byte : inputs[r]) byte = static_cast<uint8_t>(random());
    sources.push_back(inputs[r].data());
    scales.push_back((isInteger(type) ? 1 : 0.5) + r);
    spec.scale = scales.back();
    indices.push_back(bed.world().registerCollective(r, spec, lanes));
    bed.world().copyIn(r, buffers[r]->at(0), inputs[r].data(), bytes);
  }
  std::vector<uint8_t> expected(bytes), actual(bytes);
  void* destination = expected.data();
  ReduceCopyArgs args{sources.data(), static_cast<int>(sources.size()), &destination, 1, count};
  if (op == ReduceOp::scaledSum) args.scales = scales.data();
  if (op == ReduceOp::avg) args.divisor = bed.ranks();
  reduceCopyReference(type, op, args);
  size_t wrong = 0;
  // More than once: a first run goes another way than those after it.
  const std::vector<uint8_t> nothing(bytes, 0xff);
  for (int run = 0; run < 3; ++run) {
    for (uint32_t r = 0; r < bed.ranks(); ++r) bed.world().copyIn(r, buffers[r]->at(half), nothing.data(), bytes);
    slots.clear();
    for (uint32_t r = 0; r < bed.ranks(); ++r) {
      slots.push_back(bed.submit(r, indices[r], buffers[r]->at(0), buffers[r]->at(half)));
    }
    for (uint32_t r = 0; r < bed.ranks(); ++r) {
      bed.await(r, slots[r]);
      bed.world().copyOut(r, actual.data(), buffers[r]->at(half), bytes);
      for (size_t i = 0; i < bytes; ++i) wrong += actual[i] != expected[i];
    }
  }
  return wrong;
}

}  // namespace

int runTypes(const Arguments& arguments) {
  Bed bed(arguments);
  std::vector<std::unique_ptr<Buffers>> buffers;
  for (uint32_t r = 0; r < bed.ranks(); ++r) {
    buffers.push_back(std::make_unique<Buffers>(bed.device(r), size_t{16} << 20));
  }
  std::mt19937_64 random(arguments.number("--seed", 1));
  uint32_t id = 0;
  size_t failures = 0;
  for (int t = 0; t < kDataTypeCount; ++t) {
    for (int o = 0; o < kReduceOpCount; ++o) {
      if (!isDefined(static_cast<ReduceOp>(o), static_cast<DataType>(t))) continue;
      size_t wrong = 0;
      for (const auto& [count, lanes] : {std::pair<uint64_t, uint32_t>{1, 1}, {1000, 1}, {40'009, 2}, {262'144, 4}}) {
        wrong +=
            checkType(bed, buffers, id++, static_cast<DataType>(t), static_cast<ReduceOp>(o), count, lanes, random);
      }
      failures += wrong != 0;
      std::printf("{\"check\":\"types\",\"type\":\"%s\",\"op\":\"%s\",\"ranks\":%u,\"wrongBytes\":%zu}\n",
                  nameOf(static_cast<DataType>(t)), kOpNames[o], bed.ranks(), wrong);
      std::fflush(stdout);
    }
  }
  return failures == 0 ? 0 : 1;
}

namespace {

void report(Bed& bed, const char* check, uint64_t iterations, unsigned wrong, double seconds) {
  std::printf(
      "{\"check\":\"%s\",\"ranks\":%u,\"grid\":%u,\"iterations\":%lu,\"wrongElements\":%u,\"seconds\":%.3f,"
      "\"counters\":%s}\n",
      check, bed.ranks(), bed.grid(), iterations, wrong, seconds, bed.countersJson().c_str());
  std::fflush(stdout);
}

}  // namespace

/// The paper's first program: a different random order on each GPU.
int runOrders(const Arguments& arguments) {
  Bed bed(arguments);
  const std::string list = arguments.text("--list", "eight");
  const uint64_t iterations = arguments.number("--iterations", 1000);
  const uint64_t seed = arguments.number("--seed", 1);
  const bool disturbs = arguments.number("--disturb", 0) != 0;
  AllReduces all(bed, elementCountsOf(list));
  ThreadBarrier meeting(bed.ranks());
  const uint64_t begin = nowNanos();
  bed.onEveryRank([&](uint32_t rank) {
    std::mt19937_64 random(seed * 1000 + rank);
    std::vector<uint32_t> order(all.counts.size()), slots(all.counts.size());
    std::iota(order.begin(), order.end(), 0u);
    for (uint64_t i = 0; i < iterations; ++i) {
      std::shuffle(order.begin(), order.end(), random);
      for (size_t k = 0; k < order.size(); ++k) {
        slots[order[k]] = all.submit(bed, rank, order[k]);
        if (!disturbs || random() % 16 != 0) continue;
        void* memory = nullptr;
        switch (random() % 5) {
          case 0:
            DFCCL_CUDA(cudaDeviceSynchronize());
            break;
          case 1:
            DFCCL_CUDA(cudaMalloc(&memory, size_t{4} << 20));
            DFCCL_CUDA(cudaFree(memory));
            break;
          case 2:
            DFCCL_CUDA(cudaMallocHost(&memory, 1 << 16));
            DFCCL_CUDA(cudaFreeHost(memory));
            break;
          case 3: {
            uint8_t bytes[64] = {};
            DFCCL_CUDA(cudaMemcpy(all.send[rank]->wrong(), bytes, 4, cudaMemcpyHostToDevice));  // the legacy stream
            break;
          }
          default:
            compute(32, 200, all.send[rank]->stream());
        }
      }
      for (const uint32_t c : order) bed.await(rank, slots[c]);
      for (uint32_t c = 0; c < all.counts.size(); ++c) all.checkAndClear(bed, rank, c);
      DFCCL_CUDA(cudaStreamSynchronize(all.recv[rank]->stream()));
      meeting.wait();
    }
  });
  const double seconds = static_cast<double>(nowNanos() - begin) * 1e-9;
  const unsigned wrong = all.wrong();
  report(bed,
         ("orders " + list + (disturbs ? " disturbed" : "") + ", sticky " + arguments.text("--sticky", "adaptive"))
             .c_str(),
         iterations, wrong, seconds);
  return wrong == 0 ? 0 : 1;
}

/// The second: a device synchronization between two all-reduces in opposite orders.
int runSynchronize(const Arguments& arguments) {
  Bed bed(arguments);
  const uint64_t iterations = arguments.number("--iterations", 1000);
  AllReduces all(bed, {16384, 16384});
  ThreadBarrier meeting(bed.ranks());
  const uint64_t begin = nowNanos();
  bed.onEveryRank([&](uint32_t rank) {
    const uint32_t first = rank % 2;
    for (uint64_t i = 0; i < iterations; ++i) {
      const uint32_t one = all.submit(bed, rank, first);
      DFCCL_CUDA(cudaDeviceSynchronize());
      const uint32_t other = all.submit(bed, rank, 1 - first);
      bed.await(rank, one);
      bed.await(rank, other);
      for (uint32_t c = 0; c < 2; ++c) all.checkAndClear(bed, rank, c);
      DFCCL_CUDA(cudaStreamSynchronize(all.recv[rank]->stream()));
      meeting.wait();
    }
  });
  const double seconds = static_cast<double>(nowNanos() - begin) * 1e-9;
  const unsigned wrong = all.wrong();
  report(bed, "synchronize between opposite orders", iterations, wrong, seconds);
  return wrong == 0 ? 0 : 1;
}

}  // namespace dfccl::gpu::bench

// The main job with a thread for each rank, for ThreadSanitizer: 8 ranks, ResNet-50's 161 tensors, an order of each
// rank's own in each iteration, and device synchronizations in between. Tensors are a 1024th of their size, or a 64th
// in the long tier, and every element of every result is checked.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <numeric>
#include <random>
#include <string>
#include <thread>

#include "../bench/allreduce/tensors.hpp"
#include "dfccl/dfccl.h"

using dfccl::bench::Tensor;

namespace {

constexpr int kRanks = 8;

bool isLong() {
  const char* tier = std::getenv("DFCCL_TEST_TIER");
  return tier != nullptr && std::string(tier) == "long";
}

struct Tally {
  std::atomic<uint64_t> completed{0}, wrong{0}, synchronizations{0}, refused{0};
};

void count(void* tally, dfcclResult_t result) {
  if (result == dfcclSuccess) static_cast<Tally*>(tally)->completed.fetch_add(1);
}

void runRank(int rank, dfcclWorld_t world, const std::vector<uint64_t>& sizes, int iterations, Tally& tally) {
  const auto ok = [&](dfcclResult_t result) { tally.refused += result != dfcclSuccess; };
  dfcclRankCtx_t ctx = nullptr;
  ok(dfcclInitRank(world, rank, &ctx));
  std::vector<Tensor> in, out;
  for (size_t t = 0; t < sizes.size(); ++t) {
    in.emplace_back(sizes[t]).fill(rank);
    out.emplace_back(sizes[t]);
    ok(dfcclRegisterAllReduce(in[t].count(), dfcclFloat32, dfcclSum, static_cast<int>(t), dfcclAllRanks(), 0, ctx));
  }
  std::mt19937 random(1000 + rank);
  std::vector<size_t> order(sizes.size());
  std::iota(order.begin(), order.end(), 0);
  for (int iteration = 0; iteration < iterations; ++iteration) {
    std::shuffle(order.begin(), order.end(), random);
    for (const size_t t : order) {
      std::memset(out[t].data.get(), 0, out[t].bytes);
      ok(dfcclRunAllReduce(in[t].data.get(), out[t].data.get(), static_cast<int>(t), count, &tally, ctx));
      if (random() % 40 == 0) {
        ok(dfcclSynchronize(ctx));
        ++tally.synchronizations;
      }
    }
    ok(dfcclWait(ctx));
    for (const Tensor& tensor : out) tally.wrong += tensor.wrong(kRanks);
  }
  ok(dfcclDestroy(ctx));
}

}  // namespace

TEST_CASE("8 ranks reduce ResNet-50's tensors in orders of their own, with synchronizations, bit by bit") {
  const int iterations = isLong() ? 20 : 3;
  std::vector<uint64_t> sizes = dfccl::bench::parseTensors("resnet50");
  for (uint64_t& bytes : sizes) bytes = std::max<uint64_t>(4, bytes / (isLong() ? 64 : 1024) / 4 * 4);
  for (const int workers : {DFCCL_NO_WORKERS, 2}) {
    CAPTURE(workers);
    dfcclWorldConfig_t config = DFCCL_WORLD_CONFIG_INIT;
    config.ranks = kRanks;
    config.workers = workers;
    dfcclWorld_t world = nullptr;
    REQUIRE(dfcclWorldCreate(&config, &world) == dfcclSuccess);
    Tally tally;
    std::vector<std::thread> threads;
    for (int rank = 0; rank < kRanks; ++rank) {
      threads.emplace_back([&, rank] { runRank(rank, world, sizes, iterations, tally); });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(tally.refused == 0);
    CHECK(tally.completed == uint64_t{kRanks} * sizes.size() * static_cast<uint64_t>(iterations));
    CHECK(tally.wrong == 0);
    CHECK(tally.synchronizations > 0);
    CHECK(dfcclWorldDestroy(world) == dfcclSuccess);
    MESSAGE(tally.completed.load(), " runs, ", tally.synchronizations.load(), " synchronizations, ", tally.wrong.load(),
            " wrong");
  }
}

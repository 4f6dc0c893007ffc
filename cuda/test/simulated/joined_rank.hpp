#pragma once
// A rank on a simulated device that is a process of its own, as the C API has it, and buffers whose sums are known.
#include <cuda_runtime_api.h>
#include <doctest/doctest.h>

#include <cstdio>
#include <numeric>
#include <string>
#include <vector>

#include "dfccl/dfccl.h"
#include "processes/support/expect.hpp"
#include "processes/support/processes.hpp"
#include "simulated/ok.hpp"

namespace dfccl::gpu::simulated::test {

using namespace dfccl::test;

constexpr uint64_t kLimitMicros = 30'000'000;

struct Joined {
  dfcclWorld_t world = nullptr;
  dfcclRankCtx_t context = nullptr;
  int rank, ranks;
};

inline int join(Joined& joined, const std::string& job, uint32_t rank, uint32_t ranks, uint32_t muteMillis = 0,
                uint32_t collectives = 0) {
  dfcclJoinConfig_t config = DFCCL_JOIN_CONFIG_INIT;
  config.world.ranks = ranks;
  config.world.backend = dfcclCuda;
  config.world.grid = 3;
  config.world.arenaBytes = size_t{256} << 20;
  if (collectives != 0) config.world.collectives = collectives;
  config.job = job.c_str();
  config.rank = static_cast<int>(rank);
  config.muteMillis = muteMillis;
  joined.rank = static_cast<int>(rank);
  joined.ranks = static_cast<int>(ranks);
  OK(dfcclJoinWorld(&config, &joined.world, nullptr));
  OK(dfcclInitRank(joined.world, joined.rank, &joined.context));
  cudaSetDevice(joined.rank % 4);
  return kFine;
}
inline int leave(Joined& joined) {
  OK(dfcclDestroy(joined.context));
  OK(dfcclWorldDestroy(joined.world));
  return kFine;
}

inline int32_t* allocate(size_t count) {
  void* memory = nullptr;
  cudaMalloc(&memory, count * sizeof(int32_t));
  return static_cast<int32_t*>(memory);
}

inline int32_t valueOf(size_t i, int rank, int k) {
  return static_cast<int32_t>(i * 3 + static_cast<size_t>(rank) * 7 + static_cast<size_t>(k) * 11);
}
inline void fill(int32_t* data, size_t count, int rank, int k) {
  for (size_t i = 0; i < count; ++i) data[i] = valueOf(i, rank, k);
}
inline bool isSum(const int32_t* data, size_t count, const std::vector<int>& ranks, int k) {
  for (size_t i = 0; i < count; ++i) {
    int32_t sum = 0;
    for (const int r : ranks) sum += valueOf(i, r, k);
    if (data[i] != sum) return false;
  }
  return true;
}
inline std::vector<int> firstRanks(int count) {
  std::vector<int> ranks(static_cast<size_t>(count));
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

inline void checkAllFine(Processes& processes, uint32_t count) {
  for (uint32_t r = 0; r < count; ++r) CHECK(processes.join(r) == kFine);
}

}  // namespace dfccl::gpu::simulated::test

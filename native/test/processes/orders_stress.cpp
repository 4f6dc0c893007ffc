#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "processes/support/disorder.hpp"
#include "processes/support/joined_rank.hpp"
#include "processes/support/leaks.hpp"
#include "processes/support/processes.hpp"

using namespace dfccl;
using namespace dfccl::test;

namespace {

// Some that whoever comes last executes for all, some in many tiles; some in a part of the world.
constexpr uint64_t kCounts[] = {1, 100, 1000, 5000, 40'000, 150'000};

}  // namespace

TEST_CASE("processes that submit in orders of their own complete, bit for bit") {
  const auto seed = static_cast<unsigned>(std::random_device{}());
  CAPTURE(seed);
  const std::set<std::string> before = sharedMemories();
  for (const auto& [ranks, workers] : {std::pair{2u, 0u}, {3u, 1u}, {8u, 0u}, {8u, 1u}}) {
    CAPTURE(ranks);
    CAPTURE(workers);
    const std::string job = newJob();
    Processes processes(ranks, [&, ranks = ranks, workers = workers](uint32_t rank) {
      return runDisorder(JoinedRank(job, rank, ranks, 30'000, workers), ranks, 1, 18, kCounts, seed, 12);
    });
    for (uint32_t r = 0; r < ranks; ++r) CHECK(processes.join(r) == kFine);
  }
  CHECK(sharedMemories() == before);
}

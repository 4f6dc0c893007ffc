#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "processes/support/joined_rank.hpp"
#include "processes/support/leaks.hpp"
#include "processes/support/processes.hpp"

using namespace dfccl;
using namespace dfccl::test;

namespace {

/// Every rank's own order, with synchronizations. @return what the process says.
int runDisorder(const std::string& job, uint32_t rank, uint32_t ranks, uint32_t workers, unsigned seed,
                int iterations) {
  JoinedRank own(job, rank, ranks, 30'000, workers);
  std::mt19937 random(seed + rank);
  std::vector<JoinedRank::AllReduce> collectives;
  // Some that whoever comes last executes for all, some in many tiles; some in a part of the world.
  const uint64_t counts[] = {1, 100, 1000, 5000, 40'000, 150'000};
  for (uint32_t id = 0; id < 18; ++id) {
    std::vector<uint32_t> members = allRanks(ranks);
    if (id % 3 == 2) members.erase(members.begin() + id / 3 % ranks);
    if (std::find(members.begin(), members.end(), rank) == members.end()) continue;
    collectives.push_back(own.add(id, counts[id % 6], members));
  }
  std::vector<size_t> order(collectives.size());
  std::iota(order.begin(), order.end(), size_t{0});
  for (int iteration = 0; iteration < iterations; ++iteration) {
    std::shuffle(order.begin(), order.end(), random);
    std::vector<uint32_t> slots;
    for (const size_t c : order) {
      slots.push_back(own.submit(collectives[c]));
      if (random() % 10 == 0 && !own.world().synchronize(rank, 60'000'000)) return kWrong;
    }
    for (const uint32_t slot : slots) {
      if (own.wait(slot) != dfcclSuccess) return kWrong;
    }
    for (const auto& c : collectives) {
      if (JoinedRank::wrong(c) != 0) return kWrong;
    }
  }
  return kFine;
}

}  // namespace

TEST_CASE("processes that submit in orders of their own complete, bit for bit") {
  const auto seed = static_cast<unsigned>(std::random_device{}());
  CAPTURE(seed);
  const std::set<std::string> before = filesIn("/dev/shm");
  for (const auto& [ranks, workers] : {std::pair{2u, 0u}, {3u, 1u}, {8u, 0u}, {8u, 1u}}) {
    CAPTURE(ranks);
    CAPTURE(workers);
    const std::string job = newJob();
    Processes processes(ranks, [&, ranks = ranks, workers = workers](uint32_t rank) {
      return runDisorder(job, rank, ranks, workers, seed, 12);
    });
    for (uint32_t r = 0; r < ranks; ++r) CHECK(processes.join(r) == kFine);
  }
  CHECK(filesIn("/dev/shm") == before);
}

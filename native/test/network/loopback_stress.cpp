#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "network/support/meeting_points.hpp"
#include "processes/support/joined_rank.hpp"
#include "processes/support/processes.hpp"

using namespace dfccl;
using namespace dfccl::test;

namespace {

struct Layout {
  uint32_t hosts, ranksEach;
  uint32_t workers;
  uint32_t ranks() const { return hosts * ranksEach; }
  uint32_t hostOf(uint32_t rank) const { return rank / ranksEach; }
};

int runDisorder(const std::string& job, uint16_t port, uint32_t rank, const Layout& layout, unsigned seed,
                int iterations) {
  const MeetingPoint point = pointOn(port, layout.hostOf(rank));
  JoinedRank own(job, rank, layout.ranks(), 30'000, layout.workers, &point);
  std::mt19937 random(seed + rank);
  std::vector<JoinedRank::AllReduce> collectives;
  // Some in one slot, some in many; some within a machine, some across.
  const uint64_t counts[] = {1, 100, 5000, 40'000, 150'000, 400'000};
  for (uint32_t id = 0; id < 12; ++id) {
    std::vector<uint32_t> members = allRanks(layout.ranks());
    if (id % 3 == 2 && members.size() > 2) members.erase(members.begin() + id / 3 % layout.ranks());
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

TEST_CASE("ranks that share no memory complete in orders of their own, bit for bit") {
  const auto seed = static_cast<unsigned>(std::random_device{}());
  CAPTURE(seed);
  for (const Layout& layout : {Layout{2, 1, 0}, Layout{2, 1, 1}, Layout{2, 2, 0}, Layout{3, 2, 1}}) {
    CAPTURE(layout.hosts);
    CAPTURE(layout.ranksEach);
    CAPTURE(layout.workers);
    const std::string job = newJob();
    const uint16_t port = freePort();
    Processes processes(layout.ranks(), [&](uint32_t rank) { return runDisorder(job, port, rank, layout, seed, 5); });
    for (uint32_t r = 0; r < layout.ranks(); ++r) CHECK(processes.join(r) == kFine);
  }
}

#pragma once
#include <algorithm>
#include <numeric>
#include <random>
#include <span>
#include <vector>

#include "processes/support/joined_rank.hpp"
#include "processes/support/processes.hpp"

namespace dfccl::test {

/// Every rank's own order, with synchronizations; every third collective without one of the ranks, where that leaves
/// `fewestMembers`. @return what the process says.
inline int runDisorder(JoinedRank own, uint32_t ranks, uint32_t fewestMembers, uint32_t collectiveCount,
                       std::span<const uint64_t> counts, unsigned seed, int iterations) {
  const uint32_t rank = own.number();
  std::mt19937 random(seed + rank);
  std::vector<JoinedRank::AllReduce> collectives;
  for (uint32_t id = 0; id < collectiveCount; ++id) {
    std::vector<uint32_t> members = allRanks(ranks);
    if (id % 3 == 2 && ranks > fewestMembers) members.erase(members.begin() + id / 3 % ranks);
    if (std::find(members.begin(), members.end(), rank) == members.end()) continue;
    collectives.push_back(own.add(id, counts[id % counts.size()], members));
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

}  // namespace dfccl::test

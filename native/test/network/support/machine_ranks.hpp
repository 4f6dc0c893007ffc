#pragma once
// Ranks on machines of a test, and what they do there.
#include <cstdlib>
#include <stdexcept>
#include <string>

#include "network/support/namespaces.hpp"
#include "network/support/rendezvous_points.hpp"
#include "processes/support/iterate.hpp"
#include "processes/support/joined_rank.hpp"
#include "processes/support/tier.hpp"

namespace dfccl::test {

inline constexpr uint32_t kRanksEach = 2;

/// A rank on its machine: nothing but addresses tells where the others are.
template <class Network>
JoinedRank joinOn(const Network& machines, const std::string& job, uint32_t rank, uint32_t ranks, uint32_t muteMillis) {
  if (!machines.enter(rank / kRanksEach)) throw std::runtime_error("the machine can't be entered");
  // Namespaces share the system's memory, and with it the ways that UCX takes within one machine.
  setenv("UCX_TLS", "tcp", 1);
  const RendezvousPoint point{Machines::addressOf(0), 29'500, kSecret, {}};
  return JoinedRank(job, rank, ranks, muteMillis, 1, &point);
}

inline std::vector<JoinedRank::AllReduce> addAll(JoinedRank& own, uint32_t firstId,
                                                 const std::vector<uint32_t>& ranks) {
  std::vector<JoinedRank::AllReduce> collectives;
  for (const uint64_t count : {3, 2000, 60'000, 400'000}) {
    collectives.push_back(own.add(firstId++, count, ranks));
  }
  return collectives;
}

}  // namespace dfccl::test

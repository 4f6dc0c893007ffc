// Ranks on several machines whose network delays, drops and reorders.
#include <doctest/doctest.h>

#include "network/support/bad_network.hpp"
#include "network/support/machine_ranks.hpp"
#include "processes/support/processes.hpp"

using namespace dfccl;
using namespace dfccl::test;

TEST_CASE(
    "through a network that delays by 20 ms, drops one packet of a hundred and reorders, nothing is lost or wrong") {
  const auto seed = static_cast<unsigned>(std::random_device{}());
  CAPTURE(seed);
  const BadNetwork machines(3, BadWeather{});
  REQUIRE(machines.areThere());
  const std::string job = newJob();
  Processes processes(6, [&](uint32_t rank) {
    JoinedRank own = joinOn(machines, job, rank, 6, 20'000);
    std::mt19937 random(seed + rank);
    std::vector<JoinedRank::AllReduce> all;
    for (const uint64_t count : {3, 500, 5000, 20'000}) {
      all.push_back(own.add(static_cast<uint32_t>(all.size()), count, allRanks(6)));
    }
    bool isRight = true;
    for (int i = 0; i < (isLongTier() ? 100 : 2); ++i) {
      if (!iterate(own, all, random, isRight)) return kWrong;
    }
    return isRight ? kFine : kWrong;
  });
  for (uint32_t r = 0; r < 6; ++r) CHECK(processes.join(r, std::chrono::seconds(isLongTier() ? 900 : 60)) == kFine);
}

int main(int argc, char** argv) {
  if (!canMakeMachines()) return kSkipped;
  if (!BadNetwork(1, BadWeather{}).areThere()) {
    std::printf("skipped: this system has no devices whose packets a program may relay (/dev/net/tun)\n");
    return kSkipped;
  }
  return doctest::Context(argc, argv).run();
}

// Ranks that share no memory, as on several machines, and agree on who goes on: over UCX and loopback.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>

#include "base/error.hpp"
#include "network/support/connect_all.hpp"
#include "network/support/rendezvous_points.hpp"
#include "processes/support/agree_from_c.hpp"
#include "processes/support/contains.hpp"
#include "processes/support/shrinking.hpp"
#include "processes/support/tier.hpp"
#include "processes/support/two_deaths.hpp"

using namespace dfccl;
using namespace dfccl::test;

namespace {

#if defined(DFCCL_SANITIZED)  // where every access is looked at
constexpr int kManyMoments = 40;
#else
constexpr int kManyMoments = 200;
#endif

/// Ranks take turns over so many machines.
NewWorld onMachines(uint32_t hosts, uint32_t muteMillis = 10'000) {
  return [=](uint32_t ranks) -> Join {
    return [job = newJob(), port = std::make_shared<OwnPort>(), hosts, ranks, muteMillis](uint32_t rank) {
      // As between machines: a connection that breaks when its process ends.
      setenv("UCX_TLS", "tcp", 1);
      const RendezvousPoint point = pointOn(*port, rank % hosts);
      JoinedRank own(job, rank, ranks, muteMillis, 0, &point);
      connectAll(own, ranks);
      return own;
    };
  };
}

/// A rank that agrees once so many are gone.
int agreeWithout(JoinedRank own, size_t victims, SharedCount& joined, const std::vector<uint32_t>& expected) {
  joined.add(1);
  if (!own.awaitLost(victims)) return kWrong;
  return own.agree() == expected ? kFine : kWrong;
}

}  // namespace

TEST_CASE("ranks on two machines that have seen different deaths go on with one list") {
  const auto [first, second] = listsAfterTwoDeaths(true, onMachines(2));
  CHECK(first == 0b0011);
  CHECK(second == 0b0011);
}

TEST_CASE("control: without the agreement each machine goes on with a list of its own") {
  const auto [first, second] = listsAfterTwoDeaths(false, onMachines(2));
  CHECK(first == 0b0111);
  CHECK(second == 0b0011);
}

TEST_CASE("the others go on when a whole machine is gone, also that of rank 0") {
  for (const uint32_t machine : {0u, 1u, 2u}) {
    CAPTURE(machine);
    const SharedBoard<SharedCount> joined;
    const Join join = onMachines(3)(6);
    std::vector<uint32_t> expected = allRanks(6);
    std::erase_if(expected, [&](uint32_t r) { return r % 3 == machine; });
    Processes processes(6, [&](uint32_t rank) { return agreeWithout(join(rank), 2, *joined, expected); });
    REQUIRE(joined->await(6));
    processes.send(machine, SIGKILL);
    processes.send(machine + 3, SIGKILL);
    for (const uint32_t r : expected) CHECK(processes.join(r) == kFine);
  }
}

TEST_CASE("half of the ranks without the lowest can't know whether the other half goes on, and are told") {
  const SharedBoard<SharedCount> joined;
  const Join join = onMachines(2)(4);
  Processes processes(4, [&](uint32_t rank) {
    JoinedRank own = join(rank);
    joined->add(1);
    if (!own.awaitLost(2)) return kWrong;
    try {
      (void)own.agree();
    } catch (const Error& e) {
      const bool isRight = e.status() == dfcclAborted && contains(e.message(), "reaches ranks 1, 3, too few");
      joined->add(1);
      // Whoever leaves is gone, too.
      return joined->await(6) && isRight ? kFine : kWrong;
    }
    return kWrong;
  });
  REQUIRE(joined->await(4));
  for (const uint32_t r : {0u, 2u}) processes.send(r, SIGKILL);
  for (const uint32_t r : {1u, 3u}) CHECK(processes.join(r) == kFine);
}

TEST_CASE("the others agree without a rank that is stopped, which learns that when it goes on") {
  const SharedBoard<SharedCount> joined;
  const Join join = onMachines(2, 500)(4);
  Processes processes(4, [&](uint32_t rank) {
    JoinedRank own = join(rank);
    joined->add(1);
    if (!own.awaitLost(1)) return kWrong;
    try {
      return own.agree() == std::vector<uint32_t>{0, 1, 3} && rank != 2 ? kFine : kWrong;
    } catch (const Error& e) {
      return rank == 2 && e.status() == dfcclAborted ? kFine : kThrew;
    }
  });
  REQUIRE(joined->await(4));
  processes.send(2, SIGSTOP);
  for (const uint32_t r : {0u, 1u, 3u}) CHECK(processes.join(r) == kFine);
  processes.send(2, SIGCONT);
  CHECK(processes.join(2) == kFine);
}

TEST_CASE("from C: an agreement whose time is over names who didn't come, and can be asked again") {
  const SharedBoard<SharedCount> timedOut;
  const OwnPort port;
  const std::string job = newJob(), address = "127.0.0.1:" + std::to_string(port.number());
  Processes processes(2, [&](uint32_t rank) {
    const std::string number = std::to_string(rank);
    setenv("DFCCL_RANK", number.c_str(), 1);
    setenv("DFCCL_WORLD_SIZE", "2", 1);
    setenv("DFCCL_JOB", job.c_str(), 1);
    setenv("DFCCL_ADDRESS", address.c_str(), 1);
    setenv("DFCCL_HOST", ("machine " + number).c_str(), 1);
    const dfcclJoinConfig_t config = DFCCL_JOIN_CONFIG_INIT;
    return agreeFromC(config, *timedOut);
  });
  for (const uint32_t rank : {0u, 1u}) CHECK(processes.join(rank) == kFine);
}

TEST_CASE("after two deaths at random moments, on one machine or two, all machines agree and go on") {
  const auto seed = static_cast<unsigned>(std::random_device{}());
  CAPTURE(seed);
  std::mt19937 random(seed);
  constexpr uint32_t kRanks = 6, kHosts = 3;
  for (int moment = 0; moment < (isLongTier() ? kManyMoments : 8); ++moment) {
    CAPTURE(moment);
    const auto first = static_cast<uint32_t>(random() % kRanks);
    // Every fourth time the other one of its machine, so that the whole machine is gone.
    const auto second = static_cast<uint32_t>(moment % 4 == 3 ? (first + kHosts) % kRanks
                                                              : (first + 1 + random() % (kRanks - 1)) % kRanks);
    endTwo(kRanks, {first, second}, seed + moment, moment, random, onMachines(kHosts));
  }
}

int main(int argc, char** argv) {
  if (!hasTransport()) return kSkipped;
  return doctest::Context(argc, argv).run();
}

#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "base/error.hpp"
#include "processes/support/agree_from_c.hpp"
#include "processes/support/joined_rank.hpp"
#include "processes/support/processes.hpp"
#include "processes/support/shared_board.hpp"
#include "processes/support/shared_count.hpp"
#include "processes/support/shrinking.hpp"
#include "processes/support/tier.hpp"
#include "processes/support/two_deaths.hpp"

using namespace dfccl;
using namespace dfccl::test;

namespace {

constexpr uint32_t kMuteMillis = 400;

/// What ranks 0 and 1 agree on when rank 2 is killed with the lock in its hands and half a decision written.
/// @param endsEarly it has said before that the decision is whole.
uint64_t decidedAfterHalf(bool endsEarly) {
  struct Board {
    SharedCount joined, came;
    Atomic<uint64_t> list;
  };
  const SharedBoard<Board> board;
  const std::string job = newJob();
  Processes processes(3, [&](uint32_t rank) {
    JoinedRank own(job, rank, 3);
    board->joined.add(1);
    if (rank == 2) {
      board->joined.await(3);
      Segment& segment = *own.world().segment();
      const Segment::Lock lock(segment);
      segment.decision().of(1).words[0] = 0b111;
      if (endsEarly) segment.decision().number.store(1, order::release);
      raise(SIGKILL);
    }
    if (!own.awaitLost(1)) return kWrong;
    const std::vector<uint32_t> list = own.agree();
    if (rank == 0) board->list.store(maskOf(list), order::release);
    return kFine;
  });
  CHECK(processes.join(2) == -SIGKILL);
  for (const uint32_t rank : {0u, 1u}) CHECK(processes.join(rank) == kFine);
  return board->list.load(order::acquire);
}

}  // namespace

TEST_CASE("ranks that have seen different deaths go on with one list, also when one dies in the agreement") {
  const auto [first, second] = listsAfterTwoDeaths(true);
  CHECK(first == 0b0011);
  CHECK(second == 0b0011);
}

TEST_CASE("control: without the agreement each goes on with a list of its own") {
  const auto [first, second] = listsAfterTwoDeaths(false);
  CHECK(first == 0b0111);
  CHECK(second == 0b0011);
}

TEST_CASE("a decision that its writer didn't live to finish is made anew") { CHECK(decidedAfterHalf(false) == 0b011); }

TEST_CASE("control: half a decision that counts as whole is taken for one") { CHECK(decidedAfterHalf(true) == 0b111); }

TEST_CASE("the others agree without a rank that is stopped, which learns that when it goes on") {
  const SharedBoard<SharedCount> joined;
  const std::string job = newJob();
  Processes processes(3, [&](uint32_t rank) {
    JoinedRank own(job, rank, 3, kMuteMillis);
    joined->add(1);
    if (rank != 2 && !own.awaitLost(1)) return kWrong;
    if (rank == 2) own.awaitLost(1);
    try {
      return own.agree() == std::vector<uint32_t>{0, 1} && rank != 2 ? kFine : kWrong;
    } catch (const Error& e) {
      return rank == 2 && e.status() == dfcclAborted ? kFine : kThrew;
    }
  });
  REQUIRE(joined->await(3));
  processes.send(2, SIGSTOP);
  for (const uint32_t rank : {0u, 1u}) CHECK(processes.join(rank) == kFine);
  processes.send(2, SIGCONT);
  CHECK(processes.join(2) == kFine);
}

TEST_CASE("from C: an agreement whose time is over names who didn't come, and can be asked again") {
  const SharedBoard<SharedCount> timedOut;
  const std::string job = newJob();
  Processes processes(2, [&](uint32_t rank) {
    dfcclJoinConfig_t config = DFCCL_JOIN_CONFIG_INIT;
    config.world.ranks = 2;
    config.job = job.c_str();
    config.rank = static_cast<int>(rank);
    return agreeFromC(config, *timedOut);
  });
  for (const uint32_t rank : {0u, 1u}) CHECK(processes.join(rank) == kFine);
}

TEST_CASE("after two deaths at random moments, together or one in the agreement on the other, all agree and go on") {
  constexpr uint32_t kRanks = 5;
  const auto seed = static_cast<unsigned>(std::random_device{}());
  CAPTURE(seed);
  std::mt19937 random(seed);
  for (int moment = 0; moment < (isLongTier() ? 200 : 10); ++moment) {
    CAPTURE(moment);
    std::vector<uint32_t> order = allRanks(kRanks);
    std::shuffle(order.begin(), order.end(), random);
    endTwo(kRanks, {order[0], order[1]}, seed + moment, moment, random);
  }
}

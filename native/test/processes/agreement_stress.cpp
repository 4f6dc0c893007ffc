#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <random>

#include "dfccl/dfccl.h"
#include "error.hpp"
#include "processes/support/iterate.hpp"
#include "processes/support/joined_rank.hpp"
#include "processes/support/processes.hpp"
#include "processes/support/shared_board.hpp"
#include "processes/support/shared_count.hpp"
#include "processes/support/tier.hpp"

using namespace dfccl;
using namespace dfccl::test;

namespace {

constexpr uint32_t kMuteMillis = 400;
// Its timed lock doesn't know that the last holder may have died, and takes the unlocking for a mistake.
#if defined(__SANITIZE_THREAD__)
constexpr bool kKnowsDeadHolders = false;
#else
constexpr bool kKnowsDeadHolders = true;
#endif
constexpr uint64_t kCounts[] = {3, 2000, 60'000};

/// A list of ranks as a number, which is never 0.
uint64_t maskOf(const std::vector<uint32_t>& ranks) {
  uint64_t mask = 0;
  for (const uint32_t rank : ranks) mask |= uint64_t{1} << rank;
  return mask;
}

std::vector<uint32_t> seenBy(JoinedRank& own, uint32_t ranks) {
  std::vector<uint32_t> list = allRanks(ranks);
  for (const LostRank& lost : own.world().lostRanks()) std::erase(list, lost.rank);
  return list;
}

/// What two of four ranks take for the survivors, `[rank]`, when rank 3 dies, rank 0 looks, rank 2 dies and rank 1
/// looks.
std::array<uint64_t, 2> listsAfterTwoDeaths(bool agrees) {
  struct Board {
    SharedCount joined, came, listed;
    Atomic<uint64_t> lists[2];
  };
  const SharedBoard<Board> board;
  const std::string job = newJob();
  Processes processes(4, [&](uint32_t rank) {
    JoinedRank own(job, rank, 4);
    board->joined.add(1);
    if (rank == 3) own.awaitLost(4);
    if (!own.awaitLost(rank == 1 ? 2 : 1)) return kWrong;
    std::vector<uint32_t> list = seenBy(own, 4);
    if (agrees) {
      // Nobody goes on while rank 1 hasn't come.
      if (rank != 1 && own.world().agreeOnSurvivors()) return kWrong;
      if (rank != 1) board->came.add(1);
      list = own.agree();
    } else if (rank != 1) {
      board->came.add(1);
    }
    if (rank == 2) own.awaitLost(4);
    board->lists[rank].store(maskOf(list), order::release);
    board->listed.add(1);
    // Whoever leaves is gone, too.
    return board->listed.await(2) ? kFine : kWrong;
  });
  REQUIRE(board->joined.await(4));
  processes.send(3, SIGKILL);
  REQUIRE(board->came.await(2));
  processes.send(2, SIGKILL);
  for (const uint32_t rank : {0u, 1u}) CHECK(processes.join(rank) == kFine);
  return {board->lists[0].load(order::acquire), board->lists[1].load(order::acquire)};
}

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
      segment.decision().survivors[0] = 0b110;
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

// ---- At random ----

constexpr uint32_t kRanks = 5;
constexpr uint32_t kMostAgreements = 8;
constexpr uint32_t kMostCompleted = 600;

struct Board {
  SharedCount joined, completed, agreeing;
  Atomic<uint64_t> agreed[kMostAgreements];  // [agreement]: what the first to have its answer was told
};

std::vector<JoinedRank::AllReduce> addAll(JoinedRank& own, uint32_t firstId, const std::vector<uint32_t>& ranks) {
  std::vector<JoinedRank::AllReduce> collectives;
  for (uint32_t i = 0; i < 6; ++i) collectives.push_back(own.add(firstId + i, kCounts[i % 3], ranks));
  return collectives;
}

/// Works, shrinks whenever somebody is gone, and is done after some work of the last three.
int shrinkAndGoOn(const std::string& job, uint32_t rank, unsigned seed, Board& board) {
  JoinedRank own(job, rank, kRanks);
  std::mt19937 random(seed + rank);
  std::vector<uint32_t> ranks = allRanks(kRanks);
  board.joined.add(1);
  bool isRight = true;
  for (uint32_t agreement = 0; agreement < kMostAgreements; ++agreement) {
    std::vector<JoinedRank::AllReduce> all = addAll(own, 100 * agreement, ranks);
    for (int done = 0; iterate(own, all, random, isRight, &board.completed);) {
      if (ranks.size() == kRanks - 2 && ++done == 5) return isRight ? kFine : kWrong;
    }
    board.agreeing.add(1);
    ranks = own.agree();
    uint64_t first = 0;
    const uint64_t mine = maskOf(ranks);
    if (!board.agreed[agreement].compareExchange(first, mine, order::acqRel, order::acquire) && first != mine)
      return kWrong;
    if ((mine >> rank & 1) == 0) return kWrong;
  }
  return kWrong;
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

TEST_CASE("a decision that its writer didn't live to finish is made anew" * doctest::skip(!kKnowsDeadHolders)) {
  CHECK(decidedAfterHalf(false) == 0b011);
}

TEST_CASE("control: half a decision that counts as whole is taken for one" * doctest::skip(!kKnowsDeadHolders)) {
  CHECK(decidedAfterHalf(true) == 0b110);
}

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
  struct Board {
    SharedCount timedOut;
  };
  const SharedBoard<Board> board;
  const std::string job = newJob();
  Processes processes(2, [&](uint32_t rank) {
    dfcclJoinConfig_t config = DFCCL_JOIN_CONFIG_INIT;
    config.world.ranks = 2;
    config.job = job.c_str();
    config.rank = static_cast<int>(rank);
    dfcclWorld_t world = nullptr;
    dfcclRankCtx_t ctx = nullptr;
    if (dfcclJoinWorld(&config, &world, nullptr) != dfcclSuccess) return kThrew;
    if (dfcclInitRank(world, config.rank, &ctx) != dfcclSuccess) return kThrew;
    int ranks[2]{}, count = 0;
    if (rank == 0) {
      if (dfcclAgreeOnSurvivors(1, ranks, 2, &count, ctx) != dfcclTimeout) return kWrong;
      if (std::string(dfcclGetLastError()).find("rank 1 didn't come") == std::string::npos) return kWrong;
      board->timedOut.add(1);
    } else if (!board->timedOut.await(1)) {
      return kWrong;
    }
    if (dfcclAgreeOnSurvivors(0, ranks, 2, &count, ctx) != dfcclSuccess) return kWrong;
    const bool isRight = count == 2 && ranks[0] == 0 && ranks[1] == 1;
    return dfcclDestroy(ctx) == dfcclSuccess && dfcclWorldDestroy(world) == dfcclSuccess && isRight ? kFine : kWrong;
  });
  for (const uint32_t rank : {0u, 1u}) CHECK(processes.join(rank) == kFine);
}

TEST_CASE("after two deaths at random moments, together or one in the agreement on the other, all agree and go on") {
  const auto seed = static_cast<unsigned>(std::random_device{}());
  CAPTURE(seed);
  std::mt19937 random(seed);
  const int moments = isLongTier() ? 200 : 10;
  for (int moment = 0; moment < moments; ++moment) {
    CAPTURE(moment);
    const SharedBoard<Board> board;
    const std::string job = newJob();
    std::vector<uint32_t> order = allRanks(kRanks);
    std::shuffle(order.begin(), order.end(), random);
    Processes processes(kRanks, [&](uint32_t rank) { return shrinkAndGoOn(job, rank, seed + moment, *board); });
    REQUIRE(board->joined.await(kRanks));
    REQUIRE(board->completed.await(random() % kMostCompleted));
    processes.send(order[0], SIGKILL);
    if (moment % 3 == 1) REQUIRE(board->agreeing.await(1 + random() % (kRanks - 1)));
    if (moment % 3 == 2) REQUIRE(board->completed.await(board->completed.read() + random() % 20));
    processes.send(order[1], SIGKILL);
    for (uint32_t i = 0; i < kRanks; ++i) {
      CAPTURE(order[i]);
      CHECK(processes.join(order[i]) == (i < 2 ? -SIGKILL : kFine));
    }
  }
}

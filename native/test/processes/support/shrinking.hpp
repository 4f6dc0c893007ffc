#pragma once
// Ranks that shrink whenever some are gone, while the test ends two of them at random moments.
#include <doctest/doctest.h>

#include <random>

#include "processes/support/iterate.hpp"
#include "processes/support/new_world.hpp"
#include "processes/support/shared_board.hpp"
#include "processes/support/shared_count.hpp"

namespace dfccl::test {

constexpr uint32_t kMostAgreements = 8;

struct ShrinkingBoard {
  SharedCount joined, completed, agreeing;
  Atomic<uint64_t> agreed[kMostAgreements];  // [agreement]: what the first to have its answer was told
};

/// Works, shrinks whenever somebody is gone, and is done after some work of the last, when two are.
inline int shrinkAndGoOn(JoinedRank own, uint32_t size, unsigned seed, ShrinkingBoard& board) {
  constexpr uint64_t kCounts[] = {3, 2000, 60'000};
  const uint32_t rank = own.number();
  std::mt19937 random(seed + rank);
  std::vector<uint32_t> ranks = allRanks(size);
  board.joined.add(1);
  bool isRight = true;
  for (uint32_t agreement = 0; agreement < kMostAgreements; ++agreement) {
    std::vector<JoinedRank::AllReduce> all;
    for (uint32_t i = 0; i < 6; ++i) all.push_back(own.add(100 * agreement + i, kCounts[i % 3], ranks));
    for (int done = 0; iterate(own, all, random, isRight, &board.completed);) {
      if (ranks.size() == size - 2 && ++done == 5) return isRight ? kFine : kWrong;
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

/// Ends two of the ranks, together or one later, also while the others agree on the first. The others must go on.
/// @param victims first the one, then the other.
inline void endTwo(uint32_t size, const std::array<uint32_t, 2>& victims, unsigned seed, int moment,
                   std::mt19937& random, const NewWorld& newWorld = onOneMachine) {
  constexpr uint32_t kMostCompleted = 600;
  const SharedBoard<ShrinkingBoard> board;
  const Join join = newWorld(size);
  Processes processes(size, [&](uint32_t rank) { return shrinkAndGoOn(join(rank), size, seed, *board); });
  REQUIRE(board->joined.await(size));
  REQUIRE(board->completed.await(random() % kMostCompleted));
  processes.send(victims[0], SIGKILL);
  if (moment % 3 == 1) REQUIRE(board->agreeing.await(1 + random() % (size - 1)));
  if (moment % 3 == 2) REQUIRE(board->completed.await(board->completed.read() + random() % 20));
  processes.send(victims[1], SIGKILL);
  for (uint32_t r = 0; r < size; ++r) {
    CAPTURE(r);
    CHECK(processes.join(r) == (r == victims[0] || r == victims[1] ? -SIGKILL : kFine));
  }
}

}  // namespace dfccl::test

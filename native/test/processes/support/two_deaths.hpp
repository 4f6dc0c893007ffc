#pragma once
// Two deaths that two ranks hear of at different times.
#include <doctest/doctest.h>

#include <array>

#include "processes/support/new_world.hpp"
#include "processes/support/shared_board.hpp"
#include "processes/support/shared_count.hpp"

namespace dfccl::test {

inline std::vector<uint32_t> seenBy(JoinedRank& own, uint32_t ranks) {
  std::vector<uint32_t> list = allRanks(ranks);
  for (const LostRank& lost : own.world().lostRanks()) std::erase(list, lost.rank);
  return list;
}

/// What two of four ranks take for the survivors, `[rank]`, when rank 3 dies, rank 0 looks, rank 2 dies and rank 1
/// looks.
inline std::array<uint64_t, 2> listsAfterTwoDeaths(bool agrees, const NewWorld& newWorld = onOneMachine) {
  struct Board {
    SharedCount joined, came, listed;
    Atomic<uint64_t> lists[2];
  };
  const SharedBoard<Board> board;
  const Join join = newWorld(4);
  Processes processes(4, [&](uint32_t rank) {
    JoinedRank own = join(rank);
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

}  // namespace dfccl::test

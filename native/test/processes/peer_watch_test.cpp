// Whom the watch takes for silent.
#include <doctest/doctest.h>

#include "processes/support/expect.hpp"
#include "processes/support/joined_rank.hpp"
#include "processes/support/processes.hpp"
#include "processes/support/shared_board.hpp"
#include "processes/support/shared_count.hpp"

using namespace dfccl;
using namespace dfccl::test;

namespace {

/// What the test and its processes see of one another.
struct Board {
  SharedCount joined;
  SharedCount resumed;
  SharedCount judged;  // ranks that have seen enough
};

/// Goes on until another rank has beaten so often. @return false where it was given up before.
bool awaitBeats(JoinedRank& own, uint32_t rank, uint64_t beats) {
  const Atomic<uint64_t>& heartbeat = own.world().segment()->area(rank).heartbeat;
  for (const uint64_t begin = heartbeat.load(order::relaxed); heartbeat.load(order::relaxed) < begin + beats;) {
    if (!own.world().lostRanks().empty()) return false;
    own.step();
  }
  return own.world().lostRanks().empty();
}

}  // namespace

TEST_CASE("a rank that is stopped while the other one runs is given up") {
  const SharedBoard<Board> board;
  const std::string job = newJob();
  Processes processes(2, [&](uint32_t rank) -> int {
    JoinedRank own(job, rank, 2, 1000);
    board->joined.add(1);
    EXPECT(own.awaitLost(1));
    const LostRank lost = own.world().lostRanks().front();
    EXPECT(lost.rank == 1);
    EXPECT(lost.presence == Presence::mute);
    board->judged.add(1);
    EXPECT(board->judged.await(2));
    return kFine;
  });
  REQUIRE(board->joined.await(2));
  processes.send(1, SIGSTOP);
  REQUIRE(board->judged.await(1));
  processes.send(1, SIGCONT);
  for (const uint32_t rank : {0u, 1u}) CHECK(processes.join(rank) == kFine);
}

TEST_CASE("a rank that registers while another one keeps the world's lock for longer than the limit isn't given up") {
  constexpr uint32_t kMuteMillis = 500;
  constexpr uint64_t kBeats = 16;  // some 60 ms each
  const SharedBoard<Board> board;
  const std::string job = newJob();
  Processes processes(3, [&](uint32_t rank) -> int {
    JoinedRank own(job, rank, 3, kMuteMillis);
    board->joined.add(1);
    EXPECT(board->joined.await(3));
    if (rank == 2) {
      const Segment::Lock lock(*own.world().segment());
      board->resumed.add(1);
      EXPECT(board->judged.await(1));
    } else {
      EXPECT(board->resumed.await(1));
      if (rank == 1) {
        board->resumed.add(1);
        own.add(0, 1, allRanks(3));
      } else {
        EXPECT(board->resumed.await(2));
        EXPECT(awaitBeats(own, 1, kBeats));
        board->judged.add(1);
      }
    }
    board->judged.add(1);
    EXPECT(board->judged.await(4));
    return kFine;
  });
  for (const uint32_t rank : {0u, 1u, 2u}) CHECK(processes.join(rank) == kFine);
}

TEST_CASE("a rank that ends is gone at once, also where a child that it forked lives on") {
  // Silence alone would never tell.
  constexpr uint32_t kMuteMillis = 3'600'000;
  for (const bool forks : {true, false}) {
    CAPTURE(forks);
    const SharedBoard<Board> board;
    const std::string job = newJob();
    Processes processes(2, [&](uint32_t rank) -> int {
      JoinedRank own(job, rank, 2, kMuteMillis);
      JoinedRank::AllReduce c = own.add(0, 60'000, allRanks(2));
      board->joined.add(1);
      EXPECT(board->joined.await(2));
      if (rank == 1) {
        if (forks && fork() == 0) {
          board->resumed.add(1);
          board->judged.await(1);
          _exit(kFine);
        }
        EXPECT(!forks || board->resumed.await(1));
        raise(SIGKILL);
      }
      EXPECT(own.wait(own.submit(c)) == dfcclAborted);
      EXPECT(own.world().lostRanks().front().presence == Presence::died);
      while (!own.world().isQuarantineOver(rank, c.index)) own.step();
      return kFine;
    });
    CHECK(processes.join(0, std::chrono::seconds(30)) == kFine);
    board->judged.add(1);
    CHECK(processes.join(1) == -SIGKILL);
  }
}

#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "processes/support/iterate.hpp"
#include "processes/support/joined_rank.hpp"
#include "processes/support/leaks.hpp"
#include "processes/support/processes.hpp"
#include "processes/support/shared_board.hpp"
#include "processes/support/shared_count.hpp"
#include "processes/support/tier.hpp"

using namespace dfccl;
using namespace dfccl::test;

namespace {

constexpr uint32_t kRanks = 4;
constexpr uint32_t kMuteMillis = 400;
constexpr uint32_t kMostCompleted = 2000;  // by all ranks, before the signal: some 60 iterations
constexpr uint64_t kCounts[] = {3, 2000, 60'000, 200'000};

/// What the test and its processes see of one another.
struct Board {
  SharedCount joined;
  SharedCount completed;        // collectives, of all ranks
  Atomic<int64_t> lastNoticed;  // when the last survivor knew, in milliseconds
};

int64_t clockMillis() {
  using namespace std::chrono;
  return duration_cast<milliseconds>(steady_clock::now().time_since_epoch()).count();
}

std::vector<JoinedRank::AllReduce> addAll(JoinedRank& own, uint32_t firstId, const std::vector<uint32_t>& ranks) {
  std::vector<JoinedRank::AllReduce> collectives;
  for (uint32_t i = 0; i < 8; ++i) collectives.push_back(own.add(firstId + i, kCounts[i % 4], ranks));
  return collectives;
}

int survive(const std::string& job, uint32_t rank, uint32_t victim, unsigned seed, Board& board) {
  JoinedRank own(job, rank, kRanks, kMuteMillis);
  std::mt19937 random(seed + rank);
  std::vector<JoinedRank::AllReduce> all = addAll(own, 0, allRanks(kRanks));
  board.joined.add(1);
  bool isRight = true;
  while (iterate(own, all, random, isRight, &board.completed)) {
  }
  const auto lost = own.world().lostRanks();
  if (rank == victim) {
    // Whoever was given up while it was stopped learns that too; the others may have left since.
    const bool isKnown = std::any_of(lost.begin(), lost.end(),
                                     [&](const LostRank& l) { return l.rank == rank && l.presence == Presence::mute; });
    return isKnown ? kFine : kWrong;
  }
  if (lost.size() != 1 || lost.front().rank != victim) return kWrong;
  const int64_t now = clockMillis();
  int64_t last = board.lastNoticed.load(order::relaxed);
  while (last < now && !board.lastNoticed.compareExchange(last, now, order::relaxed, order::relaxed)) {
  }
  std::vector<uint32_t> survivors = allRanks(kRanks);
  survivors.erase(survivors.begin() + victim);
  std::vector<JoinedRank::AllReduce> rest = addAll(own, 100, survivors);
  for (int i = 0; i < 5; ++i) {
    if (!iterate(own, rest, random, isRight, &board.completed)) return kWrong;
  }
  return isRight ? kFine : kWrong;
}

int moments() { return isLongTier() ? 200 : 10; }

}  // namespace

TEST_CASE("after kill -9 or SIGSTOP of a rank at any moment the others name it in time and go on without it") {
  const auto seed = static_cast<unsigned>(std::random_device{}());
  CAPTURE(seed);
  std::mt19937 random(seed);
  const std::set<std::string> before = sharedMemories();
  int64_t slowest = 0;
  for (int moment = 0; moment < moments(); ++moment) {
    CAPTURE(moment);
    const SharedBoard<Board> board;
    const std::string job = newJob();
    const uint32_t victim = random() % kRanks;
    const int signal = moment % 2 == 0 ? SIGKILL : SIGSTOP;
    CAPTURE(victim);
    CAPTURE(signal);
    {
      Processes processes(kRanks, [&](uint32_t rank) { return survive(job, rank, victim, seed + moment, *board); });
      REQUIRE(board->joined.await(kRanks));
      // A moment is a place in the work, wherever the ranks are by the time that the signal comes.
      REQUIRE(board->completed.await(random() % kMostCompleted));
      const int64_t sent = clockMillis();
      processes.send(victim, signal);
      for (uint32_t r = 0; r < kRanks; ++r) {
        if (r != victim) CHECK(processes.join(r) == kFine);
      }
      slowest = std::max(slowest, board->lastNoticed.load(order::relaxed) - sent);
      if (signal == SIGSTOP) processes.send(victim, SIGCONT);
      CHECK(processes.join(victim) == (signal == SIGKILL ? -SIGKILL : kFine));
    }
    CHECK(openRendezvous(job).empty());
  }
  MESSAGE("the last survivor knew after " << slowest << " ms at most; the limit of silence is " << kMuteMillis
                                          << " ms");
  CHECK(sharedMemories() == before);
}

TEST_CASE("what a stopped rank may still touch isn't let go before its process has ended") {
  const SharedBoard<Board> board;
  const std::string job = newJob();
  Processes processes(2, [&](uint32_t rank) {
    JoinedRank own(job, rank, 2, kMuteMillis);
    JoinedRank::AllReduce c = own.add(0, 60'000, allRanks(2));
    board->joined.add(1);
    while (rank == 1) pause();
    if (own.wait(own.submit(c)) != dfcclAborted) return kWrong;
    for (int i = 0; i < 100; ++i) {
      own.step();
      if (own.world().isQuarantineOver(rank, c.index)) return kWrong;
    }
    board->completed.add(1);
    while (!own.world().isQuarantineOver(rank, c.index)) own.step();
    return kFine;
  });
  REQUIRE(board->joined.await(2));
  processes.send(1, SIGSTOP);
  CHECK(board->completed.await(1));
  processes.send(1, SIGKILL);
  CHECK(processes.join(0) == kFine);
  CHECK(processes.join(1) == -SIGKILL);
}

TEST_CASE("a run that a rank has done its part of completes without it; control: one that it hasn't is aborted") {
  const SharedBoard<Board> board;
  const std::string job = newJob();
  Processes processes(2, [&](uint32_t rank) {
    JoinedRank own(job, rank, 2, kMuteMillis);
    JoinedRank::AllReduce done = own.add(0, 3, allRanks(2)), missing = own.add(1, 3, allRanks(2));
    board->joined.add(1);
    if (rank == 1) {
      // Whoever comes last does the work of all.
      if (!board->completed.await(1) || own.wait(own.submit(done)) != dfcclSuccess) return kWrong;
      raise(SIGKILL);
    }
    if (!board->joined.await(2)) return kWrong;
    const uint32_t slot = own.submit(done), never = own.submit(missing);
    for (int i = 0; i < 100; ++i) own.step();
    board->completed.add(1);
    // From here on this rank's daemon stands still until the watch has judged both.
    while (!own.world().isAborted(rank, missing.index)) sched_yield();
    if (own.wait(never) != dfcclAborted || own.wait(slot) != dfcclSuccess) return kWrong;
    return JoinedRank::wrong(done) == 0 ? kFine : kWrong;
  });
  CHECK(processes.join(0) == kFine);
  CHECK(processes.join(1) == -SIGKILL);
}

TEST_CASE("control: where silence has no limit, a stopped rank is waited for") {
  const std::string job = newJob();
  const SharedBoard<Board> board;
  Processes processes(2, [&](uint32_t rank) {
    JoinedRank own(job, rank, 2, 3'600'000);
    std::mt19937 random(rank);
    std::vector<JoinedRank::AllReduce> all = addAll(own, 0, allRanks(2));
    board->joined.add(1);
    bool isRight = true;
    while (iterate(own, all, random, isRight, &board->completed)) {
    }
    return kFine;
  });
  REQUIRE(board->joined.await(2));
  processes.send(1, SIGSTOP);
  CHECK(processes.join(0, std::chrono::seconds(2)) == kNeverEnded);
}

// Ranks on several machines, which the test makes as network namespaces with links between them: over UCX and TCP.
#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "../bench/allreduce/tensors.hpp"
#include "base/error.hpp"
#include "network/support/connect_all.hpp"
#include "network/support/machine_ranks.hpp"
#include "network/support/namespaces.hpp"
#include "processes/support/processes.hpp"
#include "processes/support/shared_board.hpp"
#include "processes/support/shared_count.hpp"

using namespace dfccl;
using namespace dfccl::test;

namespace {

#if defined(DFCCL_SANITIZED)  // where a process that is well is silent for seconds on a busy machine
constexpr uint32_t kMuteMillis = 4000;
#else
constexpr uint32_t kMuteMillis = 3000;
#endif
constexpr uint32_t kMostCompleted = 400;  // by all ranks, before one is lost: some 16 iterations

/// What the test and its processes see of one another.
struct Board {
  SharedCount joined;
  SharedCount completed;       // collectives, of all ranks
  SharedCount rounds;          // that rank 0 has behind it
  Atomic<uint32_t> lastRound;  // once it isn't 0: how many there are
  SharedCount noticed;         // ranks that know who is gone
  SharedCount toldOfCut;       // ranks of a machine that was cut off, which know that
};

void tellOfLoss(JoinedRank& own) {
  for (const LostRank& lost : own.world().lostRanks()) {
    std::fprintf(stderr, "rank %u: rank %u is %s\n", own.number(), lost.rank, nameOf(lost.presence));
  }
}

int runResnet(JoinedRank own, uint32_t ranks, unsigned seed, int iterations) {
  std::mt19937 random(seed + own.number());
  std::vector<JoinedRank::AllReduce> tensors;
  for (uint64_t bytes : bench::parseTensors("resnet50")) {
#if defined(DFCCL_SANITIZED)  // where every access is looked at
    bytes = std::max<uint64_t>(sizeof(float), bytes / 64);
#endif
    tensors.push_back(own.add(static_cast<uint32_t>(tensors.size()), bytes / sizeof(float), allRanks(ranks)));
  }
  bool isRight = true;
  for (int i = 0; i < iterations && isRight; ++i) {
    std::shuffle(tensors.begin(), tensors.end(), random);
    std::vector<uint32_t> slots;
    for (auto& tensor : tensors) {
      slots.push_back(own.submit(tensor));
      if (random() % 40 == 0 && !own.world().synchronize(own.number(), 120'000'000)) return kWrong;
    }
    for (const uint32_t slot : slots) isRight &= own.wait(slot) == dfcclSuccess;
    for (const auto& tensor : tensors) isRight &= JoinedRank::wrong(tensor) == 0;
  }
  return isRight ? kFine : kWrong;
}

/// Runs until a rank is gone. @return whether all that completed was right.
bool runUntilGone(JoinedRank& own, uint32_t ranks, std::mt19937& random, SharedBoard<Board>& board) {
  std::vector<JoinedRank::AllReduce> all = addAll(own, 0, allRanks(ranks));
  connectAll(own, ranks);
  board->joined.add(1);
  bool isRight = true;
  while (iterate(own, all, random, isRight, &board->completed)) {
  }
  return isRight;
}

/// Runs until the rest of the world is out of reach, and learns that it can't go on.
int beCutOff(JoinedRank own, uint32_t ranks, unsigned seed, SharedBoard<Board>& board) {
  std::mt19937 random(seed + own.number());
  const bool isRight = runUntilGone(own, ranks, random, board);
  try {
    (void)own.agree();
  } catch (const Error& e) {
    // Whoever leaves is gone, too.
    board->toldOfCut.add(1);
    return e.status() == dfcclAborted && board->toldOfCut.await(kRanksEach) && isRight ? kFine : kWrong;
  }
  return kWrong;
}

/// Runs until a rank is gone, which must be one of those expected; then without them.
int survive(JoinedRank own, uint32_t ranks, const std::vector<uint32_t>& victims, Presence expected, unsigned seed,
            SharedBoard<Board>& board) {
  std::mt19937 random(seed + own.number());
  bool isRight = runUntilGone(own, ranks, random, board);
  // All of a machine that is gone, one after the other.
  if (!own.awaitLost(victims.size())) return kWrong;
  for (const LostRank& lost : own.world().lostRanks()) {
    if (std::find(victims.begin(), victims.end(), lost.rank) == victims.end() || lost.presence != expected) {
      tellOfLoss(own);
      return kWrong;
    }
  }
  if (own.world().lostRanks().size() != victims.size()) return kWrong;
  board->noticed.add(1);
  const std::vector<uint32_t> survivors = own.agree();
  for (const uint32_t victim : victims) {
    if (std::find(survivors.begin(), survivors.end(), victim) != survivors.end()) return kWrong;
  }
  if (survivors.size() != ranks - victims.size()) return kWrong;
  std::vector<JoinedRank::AllReduce> rest = addAll(own, 100, survivors);
  for (int i = 0; i < 5; ++i) {
    if (!iterate(own, rest, random, isRight)) return kWrong;
  }
  return isRight ? kFine : kWrong;
}

TEST_CASE("four machines of two ranks reduce ResNet-50's gradients in orders of their own, bit for bit") {
  const auto seed = static_cast<unsigned>(std::random_device{}());
  CAPTURE(seed);
  const Machines machines(4);
  REQUIRE(machines.areThere());
  const std::string job = newJob();
  const int iterations = isLongTier() ? 200 : 2;
  Processes processes(
      8, [&](uint32_t rank) { return runResnet(joinOn(machines, job, rank, 8, 60'000), 8, seed, iterations); });
  for (uint32_t r = 0; r < 8; ++r) CHECK(processes.join(r, std::chrono::seconds(isLongTier() ? 1800 : 120)) == kFine);
}

TEST_CASE("a link that is down for less than the limit of silence is ridden out") {
  const auto seed = static_cast<unsigned>(std::random_device{}());
  CAPTURE(seed);
  const Machines machines(3);
  REQUIRE(machines.areThere());
  const std::string job = newJob();
  SharedBoard<Board> board;
  Processes processes(6, [&](uint32_t rank) {
    JoinedRank own = joinOn(machines, job, rank, 6, 20'000);
    std::mt19937 random(seed + rank);
    std::vector<JoinedRank::AllReduce> all = addAll(own, 0, allRanks(6));
    bool isRight = true;
    for (uint32_t round = 0;
         board->lastRound.load(order::acquire) == 0 || round < board->lastRound.load(order::acquire); ++round) {
      const bool isComplete = iterate(own, all, random, isRight);
      if (!isComplete) tellOfLoss(own);
      if (!isComplete || !isRight) return kWrong;
      if (rank == 0) board->rounds.add(1);
    }
    return kFine;
  });
  REQUIRE(board->rounds.await(3, std::chrono::seconds(30)));
  REQUIRE(machines.unplug(1));
  const uint32_t atCut = board->rounds.read();
  usleep(isLongTier() ? 5'000'000 : 1'000'000);  // the outage itself: how long it lasts is what is ridden out
  const uint32_t before = board->rounds.read();
  CHECK(before <= atCut + 2);  // what was under way; else nothing was cut
  REQUIRE(machines.plugIn(1));
  CHECK(board->rounds.await(before + 3, std::chrono::seconds(30)));
  // Nobody is two rounds ahead of rank 0.
  board->lastRound.store(board->rounds.read() + 3, order::release);
  for (uint32_t r = 0; r < 6; ++r) CHECK(processes.join(r) == kFine);
}

TEST_CASE(
    "a rank that is killed or stopped, and a machine that is cut off, are named, and the others agree and go on") {
  const auto seed = static_cast<unsigned>(std::random_device{}());
  CAPTURE(seed);
  std::mt19937 random(seed);
  for (int moment = 0; moment < (isLongTier() ? 60 : 3); ++moment) {
    CAPTURE(moment);
    const Machines machines(3);
    REQUIRE(machines.areThere());
    const std::string job = newJob();
    SharedBoard<Board> board;
    const bool isCutOff = moment % 3 == 2;
    const int signal = moment % 3 == 0 ? SIGKILL : SIGSTOP;
    const std::vector<uint32_t> victims = isCutOff ? std::vector<uint32_t>{4, 5} : std::vector<uint32_t>{5};
    const Presence expected = moment % 3 == 0 ? Presence::died : Presence::mute;
    Processes processes(6, [&](uint32_t rank) {
      if (isCutOff && rank >= 4) return beCutOff(joinOn(machines, job, rank, 6, kMuteMillis), 6, seed, board);
      return survive(joinOn(machines, job, rank, 6, kMuteMillis), 6, victims, expected, seed, board);
    });
    REQUIRE(board->joined.await(6, std::chrono::seconds(30)));
    // A moment is a place in the work, wherever the ranks are by the time that they lose one.
    REQUIRE(board->completed.await(random() % kMostCompleted));
    if (isCutOff) {
      REQUIRE(machines.unplug(2));
    } else {
      processes.send(5, signal);
    }
    const auto survivors = static_cast<uint32_t>(6 - victims.size());
    CHECK(board->noticed.await(survivors, std::chrono::seconds(60)));
    for (uint32_t r = 0; r < (isCutOff ? 6 : survivors); ++r) CHECK(processes.join(r) == kFine);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (!canMakeMachines()) return kSkipped;
  return doctest::Context(argc, argv).run();
}

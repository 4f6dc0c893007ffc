// Ranks on simulated GPUs of machines with a network between them that is slow, is down for a while, or stays so.
#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <random>

#include "dfccl/dfccl.h"
#include "network/support/bad_network.hpp"
#include "outcomes.hpp"
#include "processes/support/shared_board.hpp"
#include "processes/support/shared_count.hpp"
#include "processes/support/tier.hpp"
#include "simulated/machine_ranks.hpp"
#include "simulated/survive.hpp"

using namespace dfccl::gpu::simulated::test;

namespace {

using Network = dfccl::test::Machines;

constexpr uint16_t kPort = 29'500;

/// What the test and its processes see of one another.
struct Board {
  dfccl::Atomic<uint32_t> mayEnd;
  SharedCount rounds;                 // that rank 0 has behind it
  dfccl::Atomic<uint32_t> lastRound;  // once it isn't 0: how many there are
};

/// A rank on the machine of its number: nothing but addresses tells where the others are.
template <class AnyNetwork>
int joinThrough(const AnyNetwork& network, const std::string& job, uint32_t rank, uint32_t ranks, uint32_t muteMillis,
                Joined& joined) {
  EXPECT(network.enter(rank));
  setLaunch(job, kPort, rank, {ranks, 1});
  setenv("DFCCL_ADDRESS", (Network::addressOf(0) + ":" + std::to_string(kPort)).c_str(), 1);
  return joinLaunched(joined, muteMillis);
}

/// All-reduces in orders of its own, and a message to each neighbour, which are under way together.
class Work {
 public:
  explicit Work(Joined& me) : me_(me), random_(static_cast<unsigned>(me.rank)), order_(firstRanks(kIds)) {
    for (int id = 0; id < kIds; ++id) {
      in_.push_back(allocate(countOf(id)));
      out_.push_back(allocate(countOf(id)));
    }
    for (int i = 0; i < 2; ++i) messages_.push_back(allocate(kMessage));
  }

  int begin() {
    for (int id = 0; id < kIds; ++id) {
      OK(dfcclRegisterAllReduce(countOf(id), dfcclInt32, dfcclSum, id, dfcclAllRanks(), 0, me_.context));
    }
    OK(dfcclGroupCreate(nullptr, 0, 0, &group_, me_.context));
    return kFine;
  }
  int round(int number) {
    std::shuffle(order_.begin(), order_.end(), random_);
    for (const int id : order_) fill(in_[at(id)], countOf(id), me_.rank, id + number);
    fill(messages_[0], kMessage, me_.rank, number);
    const int next = (me_.rank + 1) % me_.ranks, last = (me_.rank + me_.ranks - 1) % me_.ranks;
    OK(dfcclSend(messages_[0], kMessage, dfcclInt32, next, group_, 0, nullptr, nullptr));
    for (const int id : order_) OK(dfcclRun(in_[at(id)], out_[at(id)], id, nullptr, nullptr, me_.context));
    OK(dfcclRecv(messages_[1], kMessage, dfcclInt32, last, group_, 0, nullptr, nullptr));
    OK(dfcclWaitFor(kLimitMicros, me_.context));
    for (const int id : order_) EXPECT(isSum(out_[at(id)], countOf(id), firstRanks(me_.ranks), id + number));
    EXPECT(isSum(messages_[1], kMessage, {last}, number));
    return kFine;
  }
  int end() {
    OK(dfcclGroupDestroy(group_));
    for (int id = 0; id < kIds; ++id) OK(dfcclUnregister(id, me_.context));
    return leave(me_);
  }

 private:
  static constexpr int kIds = 6;
  static constexpr size_t kSizes[] = {1, 5000, 60'000};
  static constexpr size_t kMessage = 70'000;
  static size_t at(int id) { return static_cast<size_t>(id); }
  static size_t countOf(int id) { return kSizes[at(id) % std::size(kSizes)]; }

  Joined& me_;
  std::mt19937 random_;
  std::vector<int> order_;
  std::vector<int32_t*> in_, out_, messages_;
  dfcclGroup_t group_ = nullptr;
};

/// Works until the others are out of reach, and learns that it can't go on alone.
int beCutOff(Joined& me, size_t count, int ready) {
  int32_t *in = allocate(count), *out = allocate(count);
  if (const int failed = workUntilLost(me, in, out, count, ready); failed != kFine) return failed;
  std::vector<int> survivors(4);
  int survivorCount = 0;
  EXPECT(dfcclAgreeOnSurvivors(kLimitMicros, survivors.data(), 4, &survivorCount, me.context) == dfcclAborted);
  EXPECT(std::string(dfcclGetLastError()).find("too few to go on") != std::string::npos);
  return kFine;
}

/// Whether there is a network; else the test case counts as skipped.
bool isMade(bool isThere) {
  if (!isThere)
    dfccl::gpu::test::skip("this system lets the test make no network (it needs root, iproute2 and nsenter)");
  return isThere;
}

}  // namespace

TEST_CASE("through a network that delays by 50 ms, drops and reorders, GPUs' collectives and messages are right") {
  if (!isMade(canMakeMachines())) return;
  const dfccl::test::BadNetwork network(3, {std::chrono::milliseconds(50), 0.01, 0.05, std::chrono::milliseconds(8)});
  if (!isMade(network.areThere())) return;
  const std::string job = newJob();
  Processes processes(3, [&](uint32_t rank) -> int {
    Joined me;
    if (const int failed = joinThrough(network, job, rank, 3, 20'000, me); failed != kFine) return failed;
    Work work(me);
    if (const int failed = work.begin(); failed != kFine) return failed;
    for (int i = 0; i < 2; ++i) {
      if (const int failed = work.round(i); failed != kFine) return failed;
    }
    return work.end();
  });
  checkAllFine(processes, 3);
}

TEST_CASE("a link of a GPU's machine that is down for less than the limit of silence is ridden out") {
  if (!isMade(canMakeMachines())) return;
  const Network network(3);
  REQUIRE(network.areThere());
  const std::string job = newJob();
  SharedBoard<Board> board;
  Processes processes(3, [&](uint32_t rank) -> int {
    Joined me;
    if (const int failed = joinThrough(network, job, rank, 3, 20'000, me); failed != kFine) return failed;
    Work work(me);
    if (const int failed = work.begin(); failed != kFine) return failed;
    for (uint32_t i = 0;
         board->lastRound.load(dfccl::order::acquire) == 0 || i < board->lastRound.load(dfccl::order::acquire); ++i) {
      if (const int failed = work.round(static_cast<int>(i)); failed != kFine) return failed;
      if (rank != 0) continue;
      // Nobody is two rounds ahead of it.
      const bool isLast =
          board->mayEnd.load(dfccl::order::acquire) != 0 && board->lastRound.load(dfccl::order::relaxed) == 0;
      if (isLast) board->lastRound.store(i + 3, dfccl::order::release);
      board->rounds.add(1);
    }
    return work.end();
  });
  REQUIRE(board->rounds.await(3));
  REQUIRE(network.unplug(1));
  const uint32_t atCut = board->rounds.read();
  usleep(1'000'000);  // the outage itself: how long it lasts is what is ridden out
  const uint32_t before = board->rounds.read();
  CHECK(before <= atCut + 2);  // what was under way; else nothing was cut
  REQUIRE(network.plugIn(1));
  CHECK(board->rounds.await(before + 3));
  board->mayEnd.store(1, dfccl::order::release);
  checkAllFine(processes, 3);
}

TEST_CASE("a GPU's machine that is cut off is told so, and the others go on without it") {
  if (!isMade(canMakeMachines())) return;
  for (const size_t count : {size_t{400'000}, size_t{1000}}) {
    if (count == 1000 && !isLongTier()) break;
    CAPTURE(count);
    const Network network(3);
    REQUIRE(network.areThere());
    const std::string job = newJob();
    int ready[2];
    REQUIRE(pipe(ready) == 0);
    Processes processes(3, [&](uint32_t rank) -> int {
      Joined me;
      if (const int failed = joinThrough(network, job, rank, 3, kMuteMillis, me); failed != kFine) return failed;
      return rank == 1 ? beCutOff(me, count, ready[1]) : survive(me, count, ready[1]);
    });
    close(ready[1]);  // so that reading ends if the rank does
    char byte;
    CHECK(read(ready[0], &byte, 1) == 1);
    close(ready[0]);
    REQUIRE(network.unplug(1));
    checkAllFine(processes, 3);
  }
}

// What becomes of a collective on several machines while one of its ranks is away from it: over UCX and loopback.
#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>

#include "network/support/rendezvous_points.hpp"
#include "processes/support/expect.hpp"
#include "processes/support/joined_rank.hpp"
#include "processes/support/shared_board.hpp"
#include "processes/support/shared_count.hpp"

using namespace dfccl;
using namespace dfccl::test;

namespace {

constexpr std::chrono::seconds kLimit(60);  // what is stuck stays so
constexpr uint64_t kCount = 100;

/// A rank on a machine of its own, with one signature.
class Signer {
 public:
  Signer(const std::string& job, const OwnPort& port, uint32_t rank, uint32_t ranks)
      : point_(pointOn(port, rank)), own_(job, rank, ranks, 30'000, 1, &point_) {
    spec_.id = CollectiveId::ofSignature(17, 4);
    spec_.count = kCount;
    spec_.ranks = allRanks(ranks);
    Segment& segment = *own_.world().segment();
    in_ = reinterpret_cast<float*>(segment.allocateBuffer(kCount * sizeof(float)));
    out_ = reinterpret_cast<float*>(segment.allocateBuffer(kCount * sizeof(float)));
  }

  CpuWorld& world() { return own_.world(); }
  void broadcastFrom(uint32_t root) {
    spec_.collective = Collective::broadcast;
    spec_.root = root;
  }
  void come() { index_ = world().registerCollective(own_.number(), spec_); }
  void goAway() { leave(Departure::forNow); }
  void leave(Departure departure = Departure::forGood) {
    world().unregisterCollective(own_.number(), index_, world().rank(own_.number()).issuedOf(index_), departure);
  }
  void abort() { world().abortCollective(own_.number(), index_); }
  bool isAborted() { return world().isAborted(own_.number(), index_); }
  bool isLost(uint32_t rank) {
    const std::vector<LostRank> lost = world().lostRanks();
    return std::any_of(lost.begin(), lost.end(), [&](const LostRank& one) { return one.rank == rank; });
  }
  void step() { own_.step(); }
  void leaveWhenOver() {
    while (!world().isQuarantineOver(own_.number(), index_)) step();
    leave();
  }
  uint32_t submit(float value) {
    std::fill(in_, in_ + kCount, value);
    uint32_t slot;
    while ((slot = world().rank(own_.number()).submit(index_, in_, out_, nullptr, nullptr)) == CpuRank::kFull) step();
    world().ring();
    return slot;
  }
  dfcclResult_t run(float value) { return own_.wait(submit(value)); }
  dfcclResult_t await(uint32_t slot) { return own_.wait(slot); }
  bool has(float value) const {
    return std::all_of(out_, out_ + kCount, [&](float each) { return each == value; });
  }

 private:
  RendezvousPoint point_;
  JoinedRank own_;
  CollectiveSpec spec_;
  uint32_t index_ = 0;
  float *in_ = nullptr, *out_ = nullptr;
};

/// Rank 0 is away when rank 1 gives the collective up.
int giveUpWhileAway(Signer own, uint32_t rank, SharedCount& turn) {
  own.come();
  EXPECT(own.run(1) == dfcclSuccess);
  if (rank == 0) own.goAway();
  turn.add(1);
  if (rank == 0) {
    EXPECT(turn.await(5));
  } else {
    EXPECT(turn.await(3));
    if (rank == 1) own.abort();
    while (!own.isAborted()) own.step();
    own.leaveWhenOver();
    turn.add(1);
  }
  own.come();
  // Rank 0 may be back before it has heard of that.
  for (dfcclResult_t result; (result = own.run(2)) != dfcclSuccess; own.come()) {
    EXPECT(rank == 0 && result == dfcclAborted);
    own.leaveWhenOver();
  }
  EXPECT(own.has(6));
  return kFine;
}

/// Rank 0 is away when rank 2 dies.
int loseWhileAway(Signer own, uint32_t rank, SharedCount& turn) {
  own.come();
  EXPECT(own.run(1) == dfcclSuccess);
  if (rank == 0) own.goAway();
  turn.add(1);
  if (rank == 2) {
    for (;;) pause();
  }
  while (!own.isLost(2)) own.step();
  if (rank == 0) own.come();
  EXPECT(own.run(2) == dfcclAborted);
  return kFine;
}

/// Both carry a broadcast out, rank 1 goes away, and the root carries it out once more.
int getAhead(Signer& own, uint32_t rank, SharedCount& turn) {
  own.broadcastFrom(0);
  own.come();
  EXPECT(own.run(1) == dfcclSuccess);
  if (rank == 0) {
    EXPECT(turn.await(1));
    EXPECT(own.run(2) == dfcclSuccess);
  } else {
    own.goAway();
    turn.add(1);
  }
  return kFine;
}

/// Rank 1 is away from a broadcast that the root carries out once more; then the root is away too, and dies.
int loseWhoIsAhead(Signer own, uint32_t rank, SharedCount& turn) {
  constexpr int kStepsToBeHeard = 1000;  // by chance: a rank that isn't heard of is told of otherwise
  EXPECT(getAhead(own, rank, turn) == kFine);
  if (rank == 0) {
    own.goAway();
    for (int i = 0; i < kStepsToBeHeard; ++i) own.step();
    turn.add(1);
    for (;;) pause();
  }
  while (!own.isLost(0)) own.step();
  own.come();
  const dfcclResult_t result = own.run(0);
  EXPECT(result == dfcclAborted || (result == dfcclSuccess && own.has(2)));
  return kFine;
}

/// Rank 1 is away from a broadcast that the root carries out once more, and then leaves for good, or the world.
int leaveWhileAway(Signer own, uint32_t rank, bool leavesWorld, SharedCount& turn) {
  EXPECT(getAhead(own, rank, turn) == kFine);
  if (rank == 0) {
    own.leave();
    turn.add(1);
    if (!leavesWorld) EXPECT(turn.await(3));
    return kFine;
  }
  EXPECT(turn.await(2));
  while (leavesWorld && !own.isLost(0)) own.step();
  own.come();
  EXPECT(own.run(0) == dfcclSuccess && own.has(2));
  turn.add(1);
  return kFine;
}

/// Both are away with as many runs, and come back at the same time, again and again.
int comeAndGo(Signer own, uint32_t rank, uint32_t ranks) {
  for (uint32_t round = 0; round < 300; ++round) {
    own.come();
    const uint32_t runs = 1 + round % 3;
    for (uint32_t i = 0; i < runs; ++i) {
      EXPECT(own.run(static_cast<float>(round + i + rank)) == dfcclSuccess);
      EXPECT(own.has(static_cast<float>(ranks * (round + i) + ranks * (ranks - 1) / 2)));
    }
    own.goAway();
  }
  return kFine;
}

struct World {
  const OwnPort port;
  const std::string job = newJob();
  const SharedBoard<SharedCount> turn;
};

}  // namespace

TEST_CASE("what is given up while a rank is away is begun anew by all") {
  World world;
  Processes processes(3, [&](uint32_t r) { return giveUpWhileAway({world.job, world.port, r, 3}, r, *world.turn); });
  for (const uint32_t r : {0u, 1u, 2u}) CHECK(processes.join(r, kLimit) == kFine);
}

TEST_CASE("who comes back to a collective of which a rank is gone is told so") {
  World world;
  Processes processes(3, [&](uint32_t r) { return loseWhileAway({world.job, world.port, r, 3}, r, *world.turn); });
  REQUIRE(world.turn->await(3));
  processes.send(2, SIGKILL);
  for (const uint32_t r : {0u, 1u}) CHECK(processes.join(r, kLimit) == kFine);
}

TEST_CASE("who comes back behind a rank that was ahead, and is gone, doesn't wait for it") {
  World world;
  Processes processes(2, [&](uint32_t r) { return loseWhoIsAhead({world.job, world.port, r, 2}, r, *world.turn); });
  REQUIRE(world.turn->await(2));
  processes.send(0, SIGKILL);
  CHECK(processes.join(1, kLimit) == kFine);
}

TEST_CASE("a run that others have finished, and left, waits for a rank that is away") {
  for (const bool leavesWorld : {false, true}) {
    CAPTURE(leavesWorld);
    World world;
    Processes processes(2, [&](uint32_t r) {
      return leaveWhileAway({world.job, world.port, r, 2}, r, leavesWorld, *world.turn);
    });
    for (const uint32_t r : {0u, 1u}) CHECK(processes.join(r, kLimit) == kFine);
  }
}

TEST_CASE("ranks come back to what others drop at the same time") {
  for (const uint32_t ranks : {2u, 3u}) {
    World world;
    Processes processes(ranks, [&](uint32_t r) { return comeAndGo({world.job, world.port, r, ranks}, r, ranks); });
    for (uint32_t r = 0; r < ranks; ++r) CHECK(processes.join(r, kLimit) == kFine);
  }
}

int main(int argc, char** argv) {
  if (!hasTransport()) return kSkipped;
  return doctest::Context(argc, argv).run();
}

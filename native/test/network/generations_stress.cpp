// Registrations of an id again, by ranks of one machine and of others that hear of one another at different times: over
// UCX and loopback.
#include <doctest/doctest.h>

#include "network/support/rendezvous_points.hpp"
#include "processes/support/expect.hpp"
#include "processes/support/new_world.hpp"
#include "processes/support/shared_board.hpp"
#include "processes/support/shared_count.hpp"

using namespace dfccl;
using namespace dfccl::test;

namespace {

constexpr std::chrono::seconds kLimit(40);  // what is stuck stays so

/// The ranks of each machine follow one another.
NewWorld onMachinesOf(uint32_t ranksEach) {
  return [=](uint32_t ranks) -> Join {
    return [job = newJob(), port = std::make_shared<OwnPort>(), ranksEach, ranks](uint32_t rank) {
      const RendezvousPoint point = pointOn(*port, rank / ranksEach);
      return JoinedRank(job, rank, ranks, 30'000, 1, &point);
    };
  };
}

bool runsWell(JoinedRank& own, JoinedRank::AllReduce& c) {
  return own.wait(own.submit(c)) == dfcclSuccess && JoinedRank::wrong(c) == 0;
}

enum class GivesUp { unregisters, aborts, abortsAndStays };

/// Rank 0 gives a registration up before rank 1 of its machine has come to it, and after rank 2 has heard of that.
int registerAfterOneGaveUp(JoinedRank own, GivesUp how, SharedCount& turn) {
  CpuWorld& world = own.world();
  const std::vector<uint32_t> all = allRanks(3);
  if (own.number() == 0) {
    const uint32_t index = own.add(7, 1000, all).index;
    if (how != GivesUp::unregisters) world.abortCollective(0, index);
    if (how != GivesUp::abortsAndStays) world.unregisterCollective(0, index, 0);
    for (uint32_t round = 0; round < 20; ++round) {
      JoinedRank::AllReduce other = own.add(4, 1000, {0, 2});
      EXPECT(runsWell(own, other));
      world.unregisterCollective(0, other.index, 1);
    }
    turn.add(1);
    EXPECT(turn.await(2));
    if (how == GivesUp::abortsAndStays) world.unregisterCollective(0, index, 0);
  } else if (own.number() == 2) {
    for (uint32_t round = 0; round < 20; ++round) {
      JoinedRank::AllReduce other = own.add(4, 1000, {0, 2});
      EXPECT(runsWell(own, other));
      world.unregisterCollective(2, other.index, 1);
    }
    EXPECT(turn.await(2));
  } else {
    EXPECT(turn.await(1));
  }
  JoinedRank::AllReduce wanted = own.add(7, 1000, all);
  if (own.number() == 1) turn.add(1);
  EXPECT(runsWell(own, wanted));
  return kFine;
}

/// Rank 1 leaves a registration and begins another one, with the ranks in another order, before rank 0 has left.
int registerInAnotherOrder(JoinedRank own, SharedCount& turn) {
  JoinedRank::AllReduce former = own.add(3, 1000, {0, 1});
  EXPECT(runsWell(own, former));
  if (own.number() == 0) EXPECT(turn.await(1));
  own.world().unregisterCollective(own.number(), former.index, 1);
  JoinedRank::AllReduce next = own.add(3, 1000, {1, 0});
  if (own.number() == 1) turn.add(1);
  EXPECT(runsWell(own, next));
  return kFine;
}

}  // namespace

TEST_CASE("what one rank gave up before another of its machine came is over for both; control: on one machine") {
  for (const GivesUp how : {GivesUp::unregisters, GivesUp::aborts, GivesUp::abortsAndStays}) {
    for (const NewWorld& newWorld : {NewWorld(onMachinesOf(2)), NewWorld(onOneMachine)}) {
      CAPTURE(static_cast<int>(how));
      const SharedBoard<SharedCount> turn;
      const Join join = newWorld(3);
      Processes processes(3, [&](uint32_t rank) { return registerAfterOneGaveUp(join(rank), how, *turn); });
      for (const uint32_t rank : {0u, 1u, 2u}) CHECK(processes.join(rank, kLimit) == kFine);
    }
  }
}

TEST_CASE("a registration that a rank has left doesn't bar it from another one; control: on one machine") {
  for (const NewWorld& newWorld : {NewWorld(onMachinesOf(1)), NewWorld(onOneMachine)}) {
    const SharedBoard<SharedCount> turn;
    const Join join = newWorld(2);
    Processes processes(2, [&](uint32_t rank) { return registerInAnotherOrder(join(rank), *turn); });
    for (const uint32_t rank : {0u, 1u}) CHECK(processes.join(rank, kLimit) == kFine);
  }
}

int main(int argc, char** argv) {
  if (!hasTransport()) return kSkipped;
  return doctest::Context(argc, argv).run();
}

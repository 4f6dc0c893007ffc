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

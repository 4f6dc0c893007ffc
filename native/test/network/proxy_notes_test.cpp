// What a rank makes of what others on several machines tell it, in the orders in which links may bring it.
#include <doctest/doctest.h>
#include <sched.h>

#include "network/support/first_rank.hpp"

using namespace dfccl;
using namespace dfccl::test;

TEST_CASE("a rank that has had runs may leave before another's registration is heard; control: one that has had none") {
  for (const uint64_t runs : {1, 0}) {
    CAPTURE(runs);
    FirstRank own;
    CollectiveSpec spec;
    spec.id = 7;
    spec.count = 100;
    spec.ranks = allRanks(kRanks);
    const uint32_t index = own.world().registerCollective(0, spec);
    const Announcement announced = own.announced();
    own.hear(1, encode(announced));
    own.hear(1, encode(NoteKind::left, GroupNote{announced.key(), runs}));
    own.hear(2, encode(announced));
    const auto hasCome = [&] { return own.world().explain(0, index)[2].registered; };
    const auto isAborted = [&] { return own.world().isAborted(0, index); };
    while (!hasCome() && !isAborted()) sched_yield();
    CHECK(hasCome() == (runs != 0));
    CHECK(isAborted() == (runs == 0));
  }
}

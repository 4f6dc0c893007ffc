// What a rank makes of what others on several machines tell it, in the orders in which links may bring it.
#include <doctest/doctest.h>
#include <sched.h>

#include "network/support/first_rank.hpp"

using namespace dfccl;
using namespace dfccl::test;

namespace {

CollectiveSpec specOf(uint32_t id) {
  CollectiveSpec spec;
  spec.id = id;
  spec.count = 100;
  spec.ranks = allRanks(kRanks);
  return spec;
}

}  // namespace

TEST_CASE("a rank that has had runs may leave before another's registration is heard; control: one that has had none") {
  for (const uint64_t runs : {1, 0}) {
    CAPTURE(runs);
    FirstRank own;
    const uint32_t index = own.world().registerCollective(0, specOf(7));
    const Announcement announced = own.announced();
    own.hear(1, encode(announced));
    own.hear(1, encode(NoteKind::left, RegistrationNote{announced.key(), runs}));
    own.hear(2, encode(announced));
    const auto hasCome = [&] { return own.world().explain(0, index)[2].registered; };
    const auto isAborted = [&] { return own.world().isAborted(0, index); };
    while (!hasCome() && !isAborted()) sched_yield();
    CHECK(hasCome() == (runs != 0));
    CHECK(isAborted() == (runs == 0));
  }
}

TEST_CASE("who registers what is over already is told so; control: not who was in it, and is heard late") {
  for (const bool wasInIt : {false, true}) {
    CAPTURE(wasInIt);
    FirstRank own;
    Announcement announced;
    announced.spec.ranks = allRanks(kRanks);
    announced.spec.id = 7;
    announced.spec.count = 100;
    if (wasInIt) {
      const uint32_t index = own.world().registerCollective(0, announced.spec);
      announced = own.announced();
      own.world().unregisterCollective(0, index, 0);
    }
    // Of another id nobody here was in.
    for (const uint32_t id : {7u, 8u}) {
      announced.spec.id = id;
      own.hear(1, encode(announced));
      own.hear(1, encode(NoteKind::left, RegistrationNote{announced.key(), id == 7 && wasInIt}));
      own.hear(2, encode(announced));
    }
    const RegistrationKey told = own.awaitPoisoned(2);
    CHECK(told.id == CollectiveId(wasInIt ? 8 : 7));
  }
}

TEST_CASE("what a rank has given up, the others are told before what it does next") {
  for (const bool unregisters : {true, false}) {
    CAPTURE(unregisters);
    FirstRank own;
    const uint32_t index = own.world().registerCollective(0, specOf(7));
    if (unregisters) {
      own.world().unregisterCollective(0, index, 0);
    } else {
      own.world().abortCollective(0, index);
    }
    (void)own.world().registerCollective(0, specOf(8));
    const NoteKind givesUp = unregisters ? NoteKind::left : NoteKind::poisoned;
    for (const uint32_t rank : {1u, 2u})
      CHECK(own.toldBefore(rank, 8) == std::vector<NoteKind>{NoteKind::registered, givesUp});
  }
}

TEST_CASE("what somebody else gave up first, a rank that gives it up too tells before what it does next") {
  FirstRank own;
  const uint32_t index = own.world().registerCollective(0, specOf(7));
  own.hear(1, encode(NoteKind::poisoned, RegistrationNote{own.announced().key(), 1}));
  while (!own.world().isAborted(0, index)) sched_yield();
  own.world().abortCollective(0, index);
  (void)own.world().registerCollective(0, specOf(8));
  CHECK(own.toldBefore(2, 8) == std::vector<NoteKind>{NoteKind::registered, NoteKind::poisoned});
}

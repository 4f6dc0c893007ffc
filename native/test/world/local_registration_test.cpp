// When a collective's registration on CPUs may go, whoever has left it and how.
#include "cpu/local_registration.hpp"

#include <doctest/doctest.h>

#include "cpu/connector_pool.hpp"
#include "program/program_loader.hpp"
#include "world/builtin_programs.hpp"

using namespace dfccl;

namespace {

constexpr auto kForNow = Departure::forNow, kForGood = Departure::forGood;

/// Of two ranks' sums.
struct Pair {
  Arena arena{1 << 20};
  ConnectorPool connectors{arena};
  CollectiveSpec spec = [] {
    CollectiveSpec spec;
    spec.id = CollectiveId::ofSignature(1, 2);
    spec.count = 1;
    spec.ranks = {0, 1};
    return spec;
  }();
  LocalRegistration registration{spec, 0, arena, connectors};
  CollectiveRecord records[2]{};

  void join(uint32_t member, uint32_t index) {
    const std::vector<uint8_t> bytes = buildDirectProgram(spec.collective, 2, member, 0);
    records[member] = CollectiveRecord{};
    records[member].index = index;
    registration.join(member, loadProgram(bytes, spec.type, spec.count, TileSizes{}), bytes, 1, records[member]);
  }
};

}  // namespace

TEST_CASE("a registration may go when both are away with as many runs, and not while one is still to have one") {
  Pair pair;
  pair.join(0, 5);
  pair.join(1, 6);
  pair.registration.leave(0, kForNow, 3);
  CHECK(pair.registration.isAway(0));
  CHECK(!pair.registration.isAbandoned());
  pair.registration.leave(1, kForNow, 2);
  CHECK(!pair.registration.isAbandoned());
  pair.join(1, 9);
  CHECK(pair.registration.isMember(1));
  CHECK(pair.registration.indexOf(1) == 9);
  CHECK(pair.records[1].finishedRuns.load(order::relaxed) == 2);
  CHECK(pair.records[1].submittedRuns.load(order::relaxed) == 2);
  pair.registration.leave(1, kForNow, 3);
  CHECK(pair.registration.isAbandoned());
}

TEST_CASE("a registration may go when both have left for good, or it was given up, whatever they had") {
  Pair pair;
  pair.join(0, 0);
  pair.join(1, 0);
  pair.registration.leave(0, kForGood, 3);
  CHECK(!pair.registration.isAbandoned());
  pair.registration.leave(1, kForNow, 2);
  CHECK(!pair.registration.isAbandoned());
  SUBCASE("left") {
    pair.join(1, 1);
    pair.registration.leave(1, kForGood, 2);
  }
  SUBCASE("given up") { pair.registration.shared().poisonedBy.store(1, order::relaxed); }
  CHECK(pair.registration.isAbandoned());
}

TEST_CASE("who leaves before the other has come comes back to the same registration, which both then complete") {
  Pair pair;
  pair.join(0, 0);
  pair.registration.leave(0, kForNow, 0);
  CHECK(pair.registration.isAbandoned());  // nobody has had anything: another registration is as good
  pair.join(1, 0);
  CHECK(!pair.registration.isAbandoned());
  CHECK(pair.registration.shared().isComplete());
  pair.join(0, 4);
  CHECK(pair.records[0].finishedRuns.load(order::relaxed) == 0);
}

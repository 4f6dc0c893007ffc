#include "network/quorum_agreement.hpp"

#include <doctest/doctest.h>

#include <string>

#include "network/support/simulated_hosts.hpp"
#include "processes/support/tier.hpp"

using namespace dfccl;
using namespace dfccl::test;

namespace {

using List = std::vector<uint32_t>;

#if defined(DFCCL_SANITIZED)  // where every access is looked at
constexpr unsigned kManyWorlds = 1000;
#else
constexpr unsigned kManyWorlds = 10'000;
#endif

void comeAll(SimulatedHosts& world) {
  for (uint32_t r = 0; r < world.size(); ++r) world.come(r);
}

/// Whether two ranks have read different lists of one agreement.
bool areListsDifferent(const SimulatedHosts& world) {
  for (uint32_t a = 0; a < world.size(); ++a) {
    for (uint32_t b = 0; b < a; ++b) {
      const size_t both = std::min(world.listsOf(a).size(), world.listsOf(b).size());
      if (!std::equal(world.listsOf(a).begin(), world.listsOf(a).begin() + static_cast<std::ptrdiff_t>(both),
                      world.listsOf(b).begin()))
        return true;
    }
  }
  return false;
}

/// Ranks that live, have come, and know neither who goes on nor that they can't.
List hanging(SimulatedHosts& world) {
  List ranks;
  for (uint32_t r = 0; r < world.size(); ++r) {
    const QuorumAgreement& agreement = world.agreementOf(r);
    if (world.isAlive(r) && !world.isExcluded(r) && agreement.isUnderWay() && !agreement.isCutOff()) ranks.push_back(r);
  }
  return ranks;
}

struct Outcome {
  bool isAnyLeftBehind = false;  // that lives, where all that happened is that ranks died
  bool areListsDifferent = false;
  List hanging;
  size_t mostAgreements = 0;
};

/// Some agreements of up to twelve ranks, while some die or are stopped for a while, and machines and links are cut.
Outcome runAtRandom(unsigned seed, Without without = {}) {
  std::mt19937 random(seed);
  const uint32_t hosts = 2 + random() % 3, ranksEach = 1 + random() % 3;
  const uint32_t deaths = random() % 4, cuts = random() % 3, stops = random() % 3;
  // Here anything may take any time. Where all that happens is that ranks die, there is time to notice.
  const bool areDeathsAll = cuts == 0 && stops == 0;
  SimulatedHosts world(hosts, ranksEach, seed, without, areDeathsAll ? uint64_t{1} << 40 : kNoticeMillis);
  const auto anyRank = [&] { return static_cast<uint32_t>(random() % world.size()); };
  for (uint32_t i = 0; i < 3000; ++i) {
    world.happen();
    if (random() % 12 == 0) world.come(anyRank());
    if (random() % 3000 < deaths) world.kill(anyRank());
    if (random() % 3000 < stops) world.stop(anyRank());
    if (random() % 500 == 0) world.goOn(anyRank());
    if (random() % 3000 < cuts) {
      const auto a = static_cast<uint32_t>(random() % hosts), b = static_cast<uint32_t>(random() % hosts);
      const uint32_t x = anyRank(), y = anyRank();
      if (random() % 2 == 0 && a != b)
        world.cutHosts(a, b);
      else if (x / ranksEach != y / ranksEach)
        world.cut(x, y);
    }
  }
  comeAll(world);
  world.settle();
  comeAll(world);  // those who were behind by one
  world.settle();
  Outcome outcome;
  outcome.areListsDifferent = areListsDifferent(world);
  outcome.hanging = hanging(world);
  for (uint32_t r = 0; r < world.size(); ++r) {
    outcome.mostAgreements = std::max(outcome.mostAgreements, world.listsOf(r).size());
    outcome.isAnyLeftBehind |= areDeathsAll && world.isExcluded(r);
  }
  return outcome;
}

unsigned anySeed() { return static_cast<unsigned>(std::random_device{}()); }

}  // namespace

TEST_CASE("all machines' survivors of a death have the same list, and so after the next") {
  SimulatedHosts world(3, 2, anySeed());
  world.kill(3);
  comeAll(world);
  world.settle();
  for (const uint32_t r : {0u, 1u, 2u, 4u, 5u}) CHECK(world.listsOf(r) == std::vector<List>{{0, 1, 2, 4, 5}});
  world.kill(0);
  world.kill(1);
  comeAll(world);
  world.settle();
  for (const uint32_t r : {2u, 4u, 5u}) CHECK(world.listsOf(r).back() == List{2, 4, 5});
}

TEST_CASE("nothing is decided while a rank that lives hasn't come, and it is named") {
  SimulatedHosts world(2, 2, anySeed());
  for (const uint32_t r : {0u, 1u, 3u}) world.come(r);
  world.settle();
  for (const uint32_t r : {0u, 1u, 3u}) {
    CHECK(world.listsOf(r).empty());
    CHECK(world.agreementOf(r).awaited() == List{2});
  }
  world.come(2);
  world.settle();
  for (uint32_t r = 0; r < 4; ++r) {
    CHECK(world.listsOf(r) == std::vector<List>{{0, 1, 2, 3}});
    CHECK(world.agreementOf(r).awaited().empty());
  }
}

TEST_CASE("of a network in two parts the one with more ranks goes on, and the other is told") {
  SimulatedHosts world(3, 2, anySeed());
  world.cutHosts(0, 1);
  world.cutHosts(0, 2);
  comeAll(world);
  world.settle();
  for (const uint32_t r : {2u, 3u, 4u, 5u}) CHECK(world.listsOf(r) == std::vector<List>{{2, 3, 4, 5}});
  for (const uint32_t r : {0u, 1u}) {
    CHECK(world.listsOf(r).empty());
    CHECK(world.agreementOf(r).isCutOff());
  }
}

TEST_CASE("of two halves the one with the lowest rank goes on") {
  SimulatedHosts world(2, 2, anySeed());
  world.cutHosts(0, 1);
  comeAll(world);
  world.settle();
  for (const uint32_t r : {0u, 1u}) CHECK(world.listsOf(r) == std::vector<List>{{0, 1}});
  for (const uint32_t r : {2u, 3u}) CHECK(world.agreementOf(r).isCutOff());
}

TEST_CASE("control: where nobody's consent is needed, both halves go on") {
  SimulatedHosts world(2, 2, anySeed(), Without{.quorum = true});
  world.cutHosts(0, 1);
  comeAll(world);
  world.settle();
  CHECK(world.listsOf(0) == std::vector<List>{{0, 1}});
  CHECK(world.listsOf(2) == std::vector<List>{{2, 3}});
}

TEST_CASE("where three parts are too small each, all are told") {
  SimulatedHosts world(3, 1, anySeed());
  world.cutHosts(0, 1);
  world.cutHosts(0, 2);
  world.cutHosts(1, 2);
  comeAll(world);
  world.settle();
  for (uint32_t r = 0; r < 3; ++r) CHECK(world.agreementOf(r).isCutOff());
}

TEST_CASE("of two that have lost each other one stays behind, and knows it") {
  SimulatedHosts world(3, 2, anySeed());
  world.cut(1, 4);
  world.cut(2, 4);
  comeAll(world);
  world.settle();
  for (const uint32_t r : {0u, 1u, 2u, 3u, 5u}) CHECK(world.listsOf(r) == std::vector<List>{{0, 1, 2, 3, 5}});
  CHECK(world.isExcluded(4));
}

namespace {

/// Who goes on when rank 2 dies, having come, and rank 4 sees that before the others do.
std::vector<List> listsWhereOneIsFirst(Without without) {
  SimulatedHosts world(3, 2, anySeed(), without);
  comeAll(world);
  const auto tellFirst = [&](uint32_t rank) {
    world.step(rank);
    world.deliver(rank, 0);
  };
  for (const uint32_t r : {1u, 2u, 3u, 5u}) tellFirst(r);
  world.deliver(2, 4);
  world.kill(2);
  world.notice(4, 2);
  tellFirst(4);
  world.step(0);
  world.settle();
  return world.listsOf(0);
}

}  // namespace

TEST_CASE("whoever is the first to notice a death isn't taken for the one that is out of reach") {
  CHECK(listsWhereOneIsFirst({}) == std::vector<List>{{0, 1, 3, 4, 5}});
}

TEST_CASE("control: without time to notice, it is") {
  CHECK(listsWhereOneIsFirst(Without{.patience = true}) == std::vector<List>{{0, 1, 2, 3, 5}});
}

TEST_CASE("what was decided while it was proposed isn't proposed any more; control: what wasn't is") {
  for (const bool isDecided : {true, false}) {
    CAPTURE(isDecided);
    SharedDecision decision{};
    SharedBallots ballots{};
    std::vector<Vote> sent;
    const auto record = [&](uint32_t, const Vote& vote) { sent.push_back(vote); };
    QuorumAgreement agreement(0, {0, 1, 2}, Acceptor(decision, ballots, 3), record, {});
    Vote came;
    came.agreement = 1;
    for (const uint32_t r : {1u, 2u}) agreement.hear(r, came, 1);
    agreement.report(0, {1, {}});
    agreement.step(1);
    REQUIRE(sent.back().kind == VoteKind::prepare);
    Vote promise = sent.back();
    promise.kind = VoteKind::promise;
    // Of another machine's proposal. Its only survivor would now be a majority by itself.
    if (isDecided) Acceptor(decision, ballots, 3).adopt(1, RankSet::of({0}));
    agreement.hear(1, promise, 1);
    const auto isAccept = [](const Vote& vote) { return vote.kind == VoteKind::accept; };
    CHECK(std::any_of(sent.begin(), sent.end(), isAccept) == !isDecided);
  }
}

TEST_CASE("votes on ranks that the world doesn't have are none") {
  SimulatedHosts world(2, 1, anySeed());
  Vote nonsense;
  nonsense.kind = VoteKind::decided;
  nonsense.agreement = 1;
  nonsense.ranks = RankSet::of({0, 2});
  world.agreementOf(0).hear(1, nonsense, 1);
  comeAll(world);
  world.settle();
  CHECK(world.listsOf(0) == std::vector<List>{{0, 1}});
}

TEST_CASE("whoever dies and whatever is cut at random moments: one list an agreement, and nobody hangs") {
  const unsigned seed = anySeed();
  const unsigned worlds = isLongTier() ? kManyWorlds : 300;
  size_t agreements = 0;
  for (unsigned i = 0; i < worlds; ++i) {
    CAPTURE(seed + i);
    const Outcome outcome = runAtRandom(seed + i);
    REQUIRE_FALSE(outcome.areListsDifferent);
    REQUIRE(outcome.hanging == List{});
    REQUIRE_FALSE(outcome.isAnyLeftBehind);
    agreements += outcome.mostAgreements;
  }
  CHECK(agreements > worlds / 2);
}

TEST_CASE("control: machines that forget what they accepted come to different lists") {
  const unsigned seed = anySeed();
  CAPTURE(seed);
  bool areDifferent = false;
  for (unsigned i = 0; i < 20'000 && !areDifferent; ++i)
    areDifferent = runAtRandom(seed + i, Without{.memory = true}).areListsDifferent;
  CHECK(areDifferent);
}

// What is outstanding has no limit: ranks submit as much as they like, in any order, and all of it completes with a few
// slots. The control is the engine that refuses a run once its slots are taken: the same programs hang.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <thread>

#include "processes/support/tier.hpp"
#include "world/support/sums.hpp"

using namespace dfccl;
using namespace dfccl::test;

namespace {

/// 0 ... N on even ranks, N ... 0 on odd ones.
uint32_t idAt(uint32_t r, uint32_t i, uint32_t ids) { return r % 2 == 0 ? i : ids - 1 - i; }

}  // namespace

TEST_CASE("ids in opposite orders complete with sixteen slots") {
  for (const uint32_t ranks : {2u, 8u}) {
    for (const uint32_t workers : {0u, 1u}) {
      const uint32_t ids = isLongTier() ? 5'000 : 2'000;
      const uint64_t rounds = isLongTier() && ranks == 2 ? 200 : 3;
      Sums sums(fewSlots(ranks, ids, workers), ids, rounds);
      for (uint64_t round = 0; round < rounds; ++round) {
        for (uint32_t r = 0; r < ranks; ++r) {
          for (uint32_t i = 0; i < ids; ++i) REQUIRE(sums.submit(r, idAt(r, i, ids)));
        }
      }
      sums.finish();
      CHECK(sums.completed == ranks * ids * rounds);
      CHECK(sums.wrong() == 0);
    }
  }
}

TEST_CASE("many runs of two ids in opposite orders complete with sixteen slots") {
  for (const uint32_t ranks : {2u, 8u}) {
    for (const uint32_t workers : {0u, 1u}) {
      const uint64_t runs = isLongTier() ? 500'000 : 10'000;
      Sums sums(fewSlots(ranks, 2, workers), 2, runs);
      for (uint32_t r = 0; r < ranks; ++r) {
        for (uint32_t half = 0; half < 2; ++half) {
          for (uint64_t k = 0; k < runs; ++k) REQUIRE(sums.submit(r, idAt(r, half, 2)));
        }
      }
      sums.finish();
      CHECK(sums.completed == ranks * 2 * runs);
      CHECK(sums.wrong() == 0);
    }
  }
}

TEST_CASE("control: where runs are refused once the slots are taken, opposite orders hang") {
  constexpr uint32_t kIds = 2 * kSlots + 1;
  for (const bool ownPlaces : {false, true}) {
    WorldOptions o = fewSlots(2, kIds, 0);
    o.limits.ownPlaces = ownPlaces;
    Sums sums(o, kIds, 1);
    uint32_t next[2] = {0, 0};
    // Neither rank is at the end, nothing has come in, and another thousand steps of both daemons would change nothing.
    for (int quiet = 0; quiet < 1000 && sums.completed < 2 * kIds;) {
      bool any = false;
      for (uint32_t r = 0; r < 2; ++r) {
        while (next[r] < kIds && sums.submit(r, idAt(r, next[r], kIds))) any = ++next[r] != 0;
        any |= sums.world.rank(r).deliver() != 0;
      }
      any |= sums.world.drive();
      quiet = any ? 0 : quiet + 1;
    }
    CHECK(sums.completed == (ownPlaces ? 2 * kIds : 0));
    CHECK((next[0] == kIds) == ownPlaces);
  }
}

TEST_CASE("what waits completes although nobody takes completions") {
  constexpr uint64_t kRuns = 4'000;
  Sums sums(fewSlots(2, 2, 0), 2, kRuns);
  for (uint32_t r = 0; r < 2; ++r) {
    for (uint32_t half = 0; half < 2; ++half) {
      for (uint64_t k = 0; k < kRuns; ++k) REQUIRE(sums.submit(r, idAt(r, half, 2)));
    }
  }
  // Only the daemons are stepped; nothing is delivered.
  for (int quiet = 0; quiet < 1000;) quiet = sums.world.drive() ? 0 : quiet + 1;
  for (uint32_t r = 0; r < 2; ++r) {
    CHECK(sums.world.rank(r).waiting() == 0);
    CHECK(sums.world.rank(r).inFlight() == 2 * kRuns);
    for (uint32_t id = 0; id < 2; ++id) CHECK(sums.world.rank(r).overOf(sums.indexOf(r, id)) == kRuns);
  }
  CHECK(sums.completed == 0);
  sums.finish();
  CHECK(sums.completed == 4 * kRuns);
  CHECK(sums.wrong() == 0);
}

TEST_CASE("random programs complete, whatever is submitted, polled and stepped when") {
  const uint32_t programs = isLongTier() ? 3'000 : 100;
  for (uint32_t seed = 1; seed <= programs; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const uint32_t ranks = 1 + random() % 4, ids = 1 + random() % 40;
    const uint64_t runs = 1 + random() % 40;
    WorldOptions o = fewSlots(ranks, ids, random() % 2, 1 + random() % 2);
    o.limits.completionSlots = 8u << random() % 3;
    o.limits.submissionSlots = 1u << random() % 6;
    Sums sums(o, ids, runs);
    std::vector<std::vector<uint32_t>> order(ranks);
    for (auto& mine : order) {
      for (uint32_t id = 0; id < ids; ++id) mine.insert(mine.end(), runs, id);
      if (random() % 4 != 0) std::shuffle(mine.begin(), mine.end(), random);
      if (random() % 2 != 0) std::reverse(mine.begin(), mine.end());
    }
    std::vector<size_t> next(ranks);
    const uint32_t pollsOneIn = 1 + random() % 50, stepsOneIn = 1 + random() % 50;
    for (size_t left = ranks * ids * runs; left != 0;) {
      const uint32_t r = random() % ranks;
      for (uint32_t burst = random() % 60; burst != 0 && next[r] < order[r].size(); --burst, --left)
        REQUIRE(sums.submit(r, order[r][next[r]++]));
      if (random() % pollsOneIn == 0) sums.world.rank(random() % ranks).deliver();
      if (random() % stepsOneIn == 0) sums.world.driveRank(random() % ranks);
    }
    sums.finish();
    REQUIRE(sums.completed == ranks * ids * runs);
    REQUIRE(sums.wrong() == 0);
  }
}

TEST_CASE("threads that submit to one rank at once keep every run") {
  constexpr uint32_t kThreads = 4, kIds = 8;
  constexpr uint64_t kRuns = 2'000;
  for (const uint32_t workers : {0u, 2u}) {
    Sums sums(fewSlots(2, kIds, workers), kIds, kRuns);
    std::vector<std::thread> threads;
    for (uint32_t t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        // Each has ids of its own, in orders that differ between the ranks.
        for (uint32_t r = 0; r < 2; ++r) {
          for (uint32_t half = 0; half < 2; ++half) {
            const uint32_t id = 2 * t + (r + half) % 2;
            for (uint64_t k = 0; k < kRuns; ++k) {
              if (!sums.submit(r, id)) std::abort();
              if (k % 64 == 0) sums.world.rank(r).deliver();
              if (k % 256 == 0) sums.world.driveRank(r);
            }
          }
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    sums.finish();
    CHECK(sums.completed == 2 * kIds * kRuns);
    CHECK(sums.wrong() == 0);
  }
}

TEST_CASE("an abort ends what waits too, and the id's place is as new afterwards") {
  constexpr uint64_t kRuns = 500;
  Sums sums(fewSlots(2, 2, 0), 2, kRuns);
  struct Counts {
    uint64_t aborted = 0, succeeded = 0;
  } counts;
  const auto note = [](void* argument, dfcclResult_t status) {
    ++(status == dfcclAborted ? static_cast<Counts*>(argument)->aborted : static_cast<Counts*>(argument)->succeeded);
  };
  float in = 1, out = 0;
  CpuRank& rank = sums.world.rank(0);
  const uint32_t index = sums.indexOf(0, 0);
  for (uint64_t k = 0; k < kRuns; ++k) REQUIRE(RankQueues::isTaken(rank.submit(index, &in, &out, note, &counts)));
  CHECK(rank.waiting() != 0);
  CHECK(sums.world.explain(0, index)[0].submitted == kRuns);
  CHECK_THROWS(sums.world.unregisterCollective(0, index, rank.issuedOf(index)));
  sums.world.abortCollective(0, index);
  sums.finish();
  CHECK(counts.aborted == kRuns);
  CHECK(counts.succeeded == 0);
  CHECK(rank.waiting() == 0);
  for (uint32_t r = 0; r < 2; ++r)
    sums.world.unregisterCollective(r, sums.indexOf(r, 0), sums.world.rank(r).issuedOf(sums.indexOf(r, 0)));
  CollectiveSpec spec;
  spec.id = 0;
  spec.count = 1;
  spec.ranks = {0, 1};
  for (uint32_t r = 0; r < 2; ++r) REQUIRE(sums.world.registerCollective(r, spec) == index);
  CHECK(rank.issuedOf(index) == 0);
  CHECK(rank.overOf(index) == 0);
  float outs[2] = {0, 0};
  for (uint64_t k = 0; k < kRuns; ++k) {
    for (uint32_t r = 0; r < 2; ++r)
      REQUIRE(RankQueues::isTaken(sums.world.rank(r).submit(index, &in, &outs[r], note, &counts)));
  }
  sums.finish();
  CHECK(counts.succeeded == 2 * kRuns);
  CHECK(outs[0] == 2);
}

TEST_CASE("whoever takes completions himself is refused where a run would wait") {
  Sums sums(fewSlots(2, 2, 0), 2, kSlots);
  float in = 1, out = 0;
  CpuRank& rank = sums.world.rank(0);
  uint32_t taken = 0;
  while (rank.submit(sums.indexOf(0, 0), &in, &out, nullptr, nullptr) != RankQueues::kFull) ++taken;
  CHECK(taken == kSlots);
  // The other id has a place of its own, for one.
  while (sums.world.drive()) {
  }
  CHECK(rank.submit(sums.indexOf(0, 1), &in, &out, nullptr, nullptr) != RankQueues::kFull);
  CHECK(rank.submit(sums.indexOf(0, 1), &in, &out, nullptr, nullptr) == RankQueues::kFull);
}

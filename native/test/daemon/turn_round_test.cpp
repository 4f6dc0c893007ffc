// Bursts: from the second one on, a block gives several of its tasks their turns in one round.
#include <doctest/doctest.h>

#include <vector>

#include "support/expected.hpp"
#include "support/plans.hpp"

using namespace dfccl;
using namespace dfccl::test;

namespace {

/// All-reduces of one shape, which every rank submits at once, each rank beginning with another one.
class Bursts {
 public:
  /// @param other program of every other one.
  Bursts(uint32_t collectives, const WorldShape& shape, const ProgramOf& program, const ProgramOf& other = {})
      : shape_(shape), c_(allReduceOf(0, shape.ranks, 24, program)), memory_(1 << 17), watch_(memory_), world_(shape) {
    Surroundings::violation.clear();
    Surroundings::stepBudgetBytes = 1 << 20;
    Surroundings::togetherBytes = 0;
    begun_.assign(shape.ranks, std::vector<uint64_t>(collectives));
    for (uint32_t r = 0; r < shape.ranks; ++r) {
      indices_.emplace_back();
      for (uint32_t i = 0; i < collectives; ++i) {
        CollectiveSpec spec = c_.spec;
        spec.id = i;
        const bool isOther = other && i % 2 != 0;
        indices_[r].push_back(world_.registerCollective(r, spec, isOther ? other(r) : c_.program(r)));
      }
    }
  }

  /// @param runs of each collective, submitted at once. @return elements of all results that are wrong.
  uint64_t run(uint32_t runs) {
    const auto collectives = static_cast<uint32_t>(indices_[0].size());
    std::vector<std::vector<Run>> submitted(shape_.ranks);
    for (uint32_t r = 0; r < shape_.ranks; ++r) {
      for (uint32_t i = 0; i < collectives * runs; ++i) submitted[r].push_back(begin(r, (r + i) % collectives));
    }
    return finish(submitted);
  }
  /// @param runs of one of them.
  uint64_t runOne(uint32_t which, uint32_t runs = 1) {
    std::vector<std::vector<Run>> submitted(shape_.ranks);
    for (uint32_t r = 0; r < shape_.ranks; ++r) {
      for (uint32_t i = 0; i < runs; ++i) submitted[r].push_back(begin(r, which));
    }
    return finish(submitted);
  }
  /// Where a rank's blocks of a collective begin.
  uint32_t firstBlock(uint32_t rank, uint32_t which) {
    return world_.memory(rank).collectives[indices_[rank][which]].firstBlock;
  }
  /// Without rounds, a visit comes to a slice or to nothing.
  int64_t slicesBeyondVisits() {
    int64_t beyond = 0;
    for (uint32_t r = 0; r < shape_.ranks; ++r) {
      for (uint32_t b = 0; b < shape_.limits.grid; ++b) {
        const BlockCounters& counters = world_.memory(r).blocks[b].counters;
        beyond += static_cast<int64_t>(counters.slices.read() + counters.stuckVisits.read());
        beyond -= static_cast<int64_t>(counters.visits.read());
      }
    }
    return beyond;
  }

 private:
  struct Run {
    uint8_t *in, *out;
    uint64_t number;
  };

  uint64_t finish(const std::vector<std::vector<Run>>& submitted) {
    size_t missing = 0;
    for (const std::vector<Run>& each : submitted) missing += each.size();
    for (int turn = 0; turn < 10'000 && missing != 0; ++turn) {
      for (uint32_t r = 0; r < shape_.ranks; ++r) {
        world_.tryStart(r);
        for (uint32_t block = 0; block < shape_.limits.grid; ++block) world_.stepBlock(r, block);
        while (world_.poll(r).has_value()) --missing;
      }
    }
    REQUIRE(missing == 0);
    uint64_t wrong = 0;
    for (uint32_t r = 0; r < shape_.ranks; ++r) {
      for (const Run& each : submitted[r]) wrong += wrongOf(r, each);
    }
    CHECK(Surroundings::violation == "");
    return wrong;
  }

  size_t bytes() const { return c_.spec.count * sizeOf(c_.spec.type); }

  Run begin(uint32_t rank, uint32_t which) {
    const size_t element = sizeOf(c_.spec.type);
    const uint64_t number = begun_[rank][which]++;
    const Run run{memory_.allocate(bytes()), memory_.allocate(bytes()), number};
    memory_.lend(run.in, bytes());
    memory_.lend(run.out, bytes());
    for (uint64_t i = 0; i < c_.spec.count; ++i) {
      storeElement(c_.spec.type, run.in + i * element, contribution(c_.spec, rank, number, i));
    }
    REQUIRE(world_.submit(rank, indices_[rank][which], run.in, run.out).has_value());
    return run;
  }

  uint64_t wrongOf(uint32_t rank, const Run& run) {
    (void)rank;
    uint64_t wrong = 0;
    const size_t element = sizeOf(c_.spec.type);
    for (uint64_t i = 0; i < c_.spec.count; ++i) {
      wrong += !isElement(c_.spec.type, run.out + i * element, expected(c_.spec, rank, run.number, i));
    }
    memory_.takeBack(run.in, bytes(), random_);
    memory_.takeBack(run.out, bytes(), random_);
    return wrong;
  }

  const WorldShape shape_;
  const PlannedCollective c_;
  UserMemory memory_;
  const MemoryWatch watch_;
  TestWorld<AllRules> world_;
  Random random_{1};
  std::vector<std::vector<uint32_t>> indices_;  // [rank][collective]
  std::vector<std::vector<uint64_t>> begun_;    // [rank][collective]: runs
};

WorldShape shapeOf(uint32_t ranks, uint32_t grid) {
  WorldShape shape = steadyShape(ranks, grid);
  shape.limits.submissionSlots = shape.limits.completionSlots = 64;
  shape.limits.collectives = 32;
  shape.limits.tasks = 128;
  return shape;
}

void burstsAreExactInRounds(uint32_t ranks, uint32_t grid, uint32_t collectives, const ProgramOf& program) {
  CAPTURE(ranks);
  CAPTURE(grid);
  CAPTURE(collectives);
  Bursts bursts(collectives, shapeOf(ranks, grid), program);
  CHECK(bursts.run(1) == 0);
  const int64_t before = bursts.slicesBeyondVisits();
  CHECK(bursts.run(1) == 0);
  CHECK(bursts.run(3) == 0);
  CHECK(bursts.run(2) == 0);
  CHECK(bursts.slicesBeyondVisits() > before);
}

}  // namespace

TEST_CASE("bursts are exact, also where several runs of an id are in them, and blocks take rounds") {
  for (uint32_t ranks = 2; ranks <= 4; ++ranks) {
    for (const uint32_t grid : {1u, 2u, 3u}) {
      for (const uint32_t collectives : {2u, 3u, 7u}) {
        burstsAreExactInRounds(ranks, grid, collectives, directAllReduce(ranks, grid));
        burstsAreExactInRounds(ranks, grid, collectives,
                               [=](uint32_t member) { return buildExchangeProgram(ranks, member, grid); });
      }
    }
  }
}

TEST_CASE("bursts of more collectives than a block has places for are exact") {
  for (uint32_t ranks = 2; ranks <= 4; ++ranks) {
    for (const uint32_t grid : {1u, 2u, 3u}) {
      CAPTURE(ranks);
      CAPTURE(grid);
      Bursts bursts(19, shapeOf(ranks, grid), directAllReduce(ranks, grid),
                    [=](uint32_t member) { return buildExchangeProgram(ranks, member, grid); });
      for (int i = 0; i < 4; ++i) CHECK(bursts.run(1 + i % 2) == 0);
    }
  }
}

TEST_CASE("where a collective has several parts in a block, nothing is asked of workers that are at a round") {
  for (int seed = 1; seed <= 30; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    const uint32_t grid = 2 + random.below(2), collectives = 2 + random.below(6);
    WorldShape shape = shapeOf(2, grid);
    shape.policy = anyPolicy(random);
    shape.policy.streams = 0;
    shape.policy.quit.kind = scheduling::QuitKind::never;
    // Every other one has more blocks than the daemon.
    Bursts bursts(collectives, shape, directAllReduce(2, grid), directAllReduce(2, 2 * grid));
    for (int i = 0; i < 8; ++i) CHECK(bursts.run(1 + i % 3) == 0);
  }
}

TEST_CASE("a collective goes to other blocks, and comes back, once two of its runs came in the same way") {
  for (const uint32_t lanes : {1u, 2u}) {
    CAPTURE(lanes);
    Bursts bursts(3, shapeOf(2, 3), directAllReduce(2, lanes));
    // Rank 0 begins its bursts with collective 0, which comes alone.
    for (int i = 0; i < 2; ++i) CHECK(bursts.run(1) == 0);
    CHECK(bursts.firstBlock(0, 0) == 0);
    CHECK(bursts.firstBlock(0, 1) != 0);
    CHECK(bursts.runOne(1) == 0);
    CHECK(bursts.firstBlock(0, 1) != 0);
    CHECK(bursts.runOne(1) == 0);
    CHECK(bursts.firstBlock(0, 1) == 0);
    // ... and not for one that didn't.
    CHECK(bursts.run(1) == 0);
    CHECK(bursts.firstBlock(0, 1) == 0);
    CHECK(bursts.run(1) == 0);
    CHECK(bursts.firstBlock(0, 1) != 0);
    // Behind others of their id, those of a single block come back too.
    for (int i = 0; i < 2; ++i) CHECK(bursts.runOne(1, 4) == 0);
    CHECK((bursts.firstBlock(0, 1) == 0) == (lanes == 1));
  }
}

TEST_CASE("what isn't prepared gets its turns alone") {
  Bursts bursts(5, shapeOf(2, 2), ringAllReduce(Protocol::ll, 2, 2));
  for (int i = 0; i < 3; ++i) CHECK(bursts.run(2) == 0);
  CHECK(bursts.slicesBeyondVisits() <= 0);
}

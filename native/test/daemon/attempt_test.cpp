// Runs that come alone: from the second on, a block's part is prepared and tried before a task is made of it.
#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "support/expected.hpp"
#include "support/plans.hpp"

using namespace dfccl;
using namespace dfccl::test;

namespace {

constexpr ReduceOp kOps[] = {ReduceOp::sum, ReduceOp::prod, ReduceOp::min, ReduceOp::max, ReduceOp::avg};

/// Collectives, each run submitted by all ranks when the run before is over; ranks take their turns in order.
class LoneRuns {
 public:
  LoneRuns(const PlannedCollective& c, const WorldShape& shape)
      : shape_(shape), memory_(1 << 16), watch_(memory_), world_(shape), random_(1) {
    Surroundings::violation.clear();
    Surroundings::stepBudgetBytes = 1 << 20;
    Surroundings::togetherBytes = 0;
    add(c);
  }

  /// Another collective. @return its index on every rank.
  uint32_t add(const PlannedCollective& c) {
    indices_.emplace_back();
    for (uint32_t r = 0; r < shape_.ranks; ++r) {
      CollectiveSpec spec = c.spec;
      spec.id = static_cast<uint32_t>(all_.size());
      if (spec.op == ReduceOp::scaledSum) spec.scale = scaleOf(r);
      indices_.back().push_back(world_.registerCollective(r, spec, c.program(r)));
    }
    all_.push_back(c);
    return indices_.back()[0];
  }

  /// @return elements of all ranks' results that are wrong.
  uint64_t run(uint32_t which = 0) {
    const PlannedCollective& c = all_[which];
    const size_t element = sizeOf(c.spec.type);
    std::vector<uint8_t*> in, out;
    std::vector<BufferSizes> sizes;  // elements
    for (uint32_t r = 0; r < shape_.ranks; ++r) {
      const auto [sent, received] = sizes.emplace_back(bufferSizes(c.spec, r));
      in.push_back(memory_.allocate(std::max(sent, c.isInPlace ? received : 0) * element));
      out.push_back(c.isInPlace ? in[r] : memory_.allocate(received * element));
      memory_.lend(in[r], sent * element);
      memory_.lend(out[r], received * element);
      for (uint64_t i = 0; i < sent; ++i) {
        storeElement(c.spec.type, in[r] + i * element, contribution(c.spec, r, runs_, i));
      }
      REQUIRE(world_.submit(r, indices_[which][r], in[r], out[r]).has_value());
    }
    uint32_t completed = 0;
    for (int turn = 0; turn < 10'000 && completed < shape_.ranks; ++turn) {
      for (uint32_t r = 0; r < shape_.ranks; ++r) {
        world_.tryStart(r);
        for (uint32_t block = 0; block < shape_.limits.grid; ++block) world_.stepBlock(r, block);
        completed += world_.poll(r).has_value();
      }
    }
    REQUIRE(completed == shape_.ranks);
    uint64_t wrong = 0;
    for (uint32_t r = 0; r < shape_.ranks; ++r) {
      for (uint64_t i = 0; i < sizes[r].recv; ++i) {
        wrong += !isElement(c.spec.type, out[r] + i * element, expected(c.spec, r, runs_, i));
      }
      memory_.takeBack(in[r], sizes[r].send * element, random_);
      memory_.takeBack(out[r], sizes[r].recv * element, random_);
    }
    ++runs_;
    CHECK(Surroundings::violation == "");
    return wrong;
  }

  /// Bytes that a rank's blocks have moved on behalf of queued tasks.
  uint64_t movedByTasks(uint32_t rank) {
    uint64_t bytes = 0;
    for (uint32_t b = 0; b < shape_.limits.grid; ++b) bytes += world_.memory(rank).blocks[b].counters.bytesMoved.read();
    return bytes;
  }

 private:
  std::vector<PlannedCollective> all_;
  const WorldShape shape_;
  UserMemory memory_;
  const MemoryWatch watch_;
  TestWorld<AllRules> world_;
  Random random_;
  std::vector<std::vector<uint32_t>> indices_;  // [collective][rank]
  uint64_t runs_ = 0;
};

/// Whoever takes its turn last finds the others' parts there, so that it needs no task.
void everyRunButTheFirstSkipsTheQueueOnTheLastRank(const PlannedCollective& c, uint32_t ranks, uint32_t grid) {
  LoneRuns runs(c, steadyShape(ranks, grid));
  CHECK(runs.run() == 0);
  const uint64_t ofFirst = runs.movedByTasks(ranks - 1);
  CHECK(ofFirst != 0);
  for (int run = 1; run < 5; ++run) CHECK(runs.run() == 0);
  CHECK(runs.movedByTasks(ranks - 1) == ofFirst);
}

void everyRunIsATask(const PlannedCollective& c, uint32_t ranks) {
  LoneRuns runs(c, steadyShape(ranks, 1));
  uint64_t moved = 0;
  for (int run = 0; run < 4; ++run) {
    CHECK(runs.run() == 0);
    CHECK(runs.movedByTasks(ranks - 1) > moved);
    moved = runs.movedByTasks(ranks - 1);
  }
}

PlannedCollective allToAllOf(uint32_t ranks, uint64_t count, const ProgramOf& program) {
  PlannedCollective c = allReduceOf(0, ranks, count, program);
  c.spec.collective = Collective::allToAll;
  return c;
}

/// An all-to-all of two ranks, of which each first writes what is wrong.
ProgramOf allToAllThatWritesTwice() {
  return [](uint32_t rank) {
    ProgramWriter w(Collective::allToAll, Protocol::simple, 2, rank, 1);
    w.header.flags = kUsesDirect | kOutOfPlace;
    w.header.inputSegments = w.header.outputSegments = 2;
    w.header.maxStepCount = 0;
    const auto copy = [&](uint32_t chunk, uint32_t to) {
      w.addMulti(0, ProgramWriter::step(Op::multiReduceCopy),
                 {{rank, static_cast<uint32_t>(BufferKind::input), chunk, 0}},
                 {{to, static_cast<uint32_t>(BufferKind::output), rank, 0}});
    };
    copy(1 - rank, rank);
    copy(rank, rank);
    copy(1 - rank, 1 - rank);
    return w.encode();
  };
}

/// @param programOf(ranks, blocks) a program for each member. @param inPlace the operation that runs in place.
template <class ProgramOf>
void everyOperationGivesWhatItsTaskWouldGive(const ProgramOf& programOf, ReduceOp inPlace) {
  for (uint32_t ranks = 2; ranks <= 4; ++ranks) {
    for (const uint32_t blocks : {1u, 2u}) {
      for (const ReduceOp op : kOps) {
        PlannedCollective c = allReduceOf(0, ranks, 24, programOf(ranks, blocks));
        c.spec.op = op;
        c.isInPlace = op == inPlace;
        CAPTURE(ranks);
        CAPTURE(blocks);
        CAPTURE(static_cast<int>(op));
        everyRunButTheFirstSkipsTheQueueOnTheLastRank(c, ranks, blocks);
      }
    }
  }
}

}  // namespace

TEST_CASE("a lone run of one reduce-copy gives what its task would give, for every operation") {
  everyOperationGivesWhatItsTaskWouldGive(directAllReduce, ReduceOp::max);
}

TEST_CASE("a lone run of one exchange gives what its task would give, for every operation") {
  const auto exchange = [](uint32_t ranks, uint32_t lanes) {
    return [=](uint32_t member) { return buildExchangeProgram(ranks, member, lanes); };
  };
  everyOperationGivesWhatItsTaskWouldGive(exchange, ReduceOp::min);
}

TEST_CASE("a lone run of several copies gives what its task would give") {
  for (uint32_t ranks = 2; ranks <= 4; ++ranks) {
    for (const uint32_t lanes : {1u, 2u}) {
      for (const uint64_t count : {1, 7, 24}) {
        CAPTURE(ranks);
        CAPTURE(lanes);
        CAPTURE(count);
        const auto program = [=](uint32_t member) {
          return buildDirectProgram(Collective::allToAll, ranks, member, kNone, lanes);
        };
        everyRunButTheFirstSkipsTheQueueOnTheLastRank(allToAllOf(ranks, count, program), ranks, lanes);
      }
    }
  }
}

TEST_CASE("copies are prepared only where their order doesn't matter, and no more than there is room for") {
  SUBCASE("one writes where another one has written") {
    everyRunIsATask(allToAllOf(2, 24, allToAllThatWritesTwice()), 2);
  }
  SUBCASE("the program may run in place, where one may write what another one reads") {
    everyRunIsATask(allToAllOf(2, 24,
                               [](uint32_t member) {
                                 std::vector<uint8_t> program =
                                     buildDirectProgram(Collective::allToAll, 2, member, kNone, 1);
                                 reinterpret_cast<ProgramHeader*>(program.data())->flags |= kInPlace;
                                 return program;
                               }),
                    2);
  }
  SUBCASE("more than a part has room for") {
    constexpr uint32_t kRanks = PreparedCopies::kMost + 1;
    everyRunIsATask(
        allToAllOf(kRanks, 4,
                   [](uint32_t member) { return buildDirectProgram(Collective::allToAll, kRanks, member, kNone, 1); }),
        kRanks);
  }
}

TEST_CASE("a sum with a factor for each rank is prepared as an exchange, and not as a move") {
  PlannedCollective c = allReduceOf(0, 3, 24, directAllReduce(3, 1));
  c.spec.op = ReduceOp::scaledSum;
  LoneRuns moves(c, steadyShape(3, 1));
  for (int run = 0; run < 4; ++run) CHECK(moves.run() == 0);
  c.program = [](uint32_t member) { return buildExchangeProgram(3, member, 1); };
  LoneRuns exchanges(c, steadyShape(3, 1));
  for (int run = 0; run < 4; ++run) CHECK(exchanges.run() == 0);
}

TEST_CASE("step by step, a step is over for all of its slices before the next one begins; control: slice by slice") {
  for (const bool isStepByStep : {true, false}) {
    CAPTURE(isStepByStep);
    PlannedCollective c = allReduceOf(0, 2, 32, [=](uint32_t member) {
      std::vector<uint8_t> program = buildLargeProgram(Collective::allReduce, 2, member, kNone, 1);
      if (!isStepByStep) reinterpret_cast<ProgramHeader*>(program.data())->flags &= ~kStepByStep;
      return program;
    });
    WorldShape shape = steadyShape(2, 1);
    shape.tiles.directTileBytes = 16;  // four slices of each rank's 64 bytes
    LoneRuns runs(c, shape);
    Surroundings::stepBudgetBytes = 1 << 20;  // a rank's slices all in one turn
    std::vector<int> moves;
    Surroundings::moves = &moves;
    CHECK(runs.run() == 0);
    Surroundings::moves = nullptr;
    // A reduction has two sources, the copy out of what it gave has one.
    std::vector<int> once =
        isStepByStep ? std::vector<int>{2, 2, 2, 2, 1, 1, 1, 1} : std::vector<int>{2, 1, 2, 1, 2, 1, 2, 1};
    std::vector<int> both = once;
    both.insert(both.end(), once.begin(), once.end());
    CHECK(moves == both);
  }
}

TEST_CASE("what is prepared outlasts that another's context takes the place, and is tried in a context of its own") {
  using Platform = TestPlatform<AllRules>;
  LoneRuns runs(allReduceOf(0, 2, 24, directAllReduce(2, 1)), steadyShape(2, 1));
  // Nothing of it can be prepared. Those between only take indices.
  const PlannedCollective ring = allReduceOf(0, 2, 24, ringAllReduce(Protocol::ll, 2));
  uint32_t neighbour = 0;
  while (neighbour % Platform::kContextSlots != 0 || neighbour == 0) neighbour = runs.add(ring);
  for (int i = 0; i < 3; ++i) CHECK(runs.run() == 0);
  const uint64_t before = runs.movedByTasks(1);
  CHECK(runs.run(neighbour) == 0);
  const uint64_t ofNeighbour = runs.movedByTasks(1);
  CHECK(ofNeighbour > before);
  CHECK(runs.run() == 0);
  CHECK(runs.movedByTasks(1) == ofNeighbour);
}

TEST_CASE("a rank that copies for itself alone, while the others fetch from it, needs no task either") {
  constexpr uint32_t kRanks = 3, kRoot = kRanks - 1;
  PlannedCollective c = allReduceOf(0, kRanks, 24, [](uint32_t member) {
    return buildDirectProgram(Collective::broadcast, kRanks, member, kRoot, 1);
  });
  c.spec.collective = Collective::broadcast;
  c.spec.root = kRoot;
  everyRunButTheFirstSkipsTheQueueOnTheLastRank(c, kRanks, 1);
}

// Runs of which nothing is prepared, as between machines: they have their first turn as they come in, beside a few that
// wait, and not after all the looks that those are worth.
#include <doctest/doctest.h>

#include <vector>

#include "support/expected.hpp"
#include "support/plans.hpp"
#include "world/connected_programs.hpp"

using namespace dfccl;
using namespace dfccl::test;

namespace {

constexpr uint32_t kRanks = 2;
constexpr uint64_t kCount = 24;

/// A block that looks a million times before it goes on with the next task.
WorldShape stickyShape() {
  WorldShape shape = steadyShape(kRanks, 1);
  shape.policy.order = {scheduling::OrderKind::fifo, {}, 1, 1, 64, 64};
  shape.policy.stickiness.kind = scheduling::StickinessKind::fixed;
  shape.policy.stickiness.initialThreshold = shape.policy.stickiness.maximumThreshold = 1'000'000;
  return shape;
}

/// Broadcasts through connectors: of root 1 those that rank 0 waits in, of root 0 those that need rank 0 alone to
/// begin.
class Broadcasts {
 public:
  explicit Broadcasts(uint32_t waiting, uint32_t going = 1) : memory_(1 << 16), watch_(memory_), world_(stickyShape()) {
    Surroundings::violation.clear();
    Surroundings::stepBudgetBytes = 1 << 20;
    Surroundings::togetherBytes = 0;
    for (uint32_t i = 0; i < waiting; ++i) add(1);
    for (uint32_t i = 0; i < going; ++i) add(0);
  }

  /// All come to rank 0 in one look. @return those that it has completed a few steps later
  size_t completedAtOnce() {
    for (uint32_t id = 0; id < all_.size(); ++id) submit(0, id);
    for (int turn = 0; turn < 10; ++turn) step(0);
    return completed_[0];
  }

  /// Rank 0 is stepped a few times, and then rank 1 alone. @return whether that was enough for rank 1.
  bool arrivesThoughRankZeroSleeps() {
    for (uint32_t id = 0; id < all_.size(); ++id) submit(0, id);
    for (int turn = 0; turn < 10; ++turn) step(0);
    CHECK(taken(0) == all_.size());
    submit(1, static_cast<uint32_t>(all_.size()) - 1);
    for (int turn = 0; turn < 100 && completed_[1] == 0; ++turn) step(1);
    return completed_[1] == 1;
  }

  /// The rest of all. @return elements that are wrong
  uint64_t finish() {
    for (uint32_t id = 0; id + 1 < all_.size(); ++id) submit(1, id);
    for (int turn = 0; turn < 4'000'000 && completed_[0] + completed_[1] < kRanks * all_.size(); ++turn) step(turn % 2);
    CHECK(completed_[0] == all_.size());
    CHECK(completed_[1] == all_.size());
    for (int turn = 0; turn < 20; ++turn) step(turn % 2);
    CHECK(completed_[0] + completed_[1] == kRanks * all_.size());  // nothing twice
    uint64_t wrong = 0;
    for (uint32_t r = 0; r < kRanks; ++r) {
      for (uint32_t id = 0; id < all_.size(); ++id) {
        for (uint64_t i = 0; i < kCount; ++i) {
          const uint8_t* const at = all_[id].out[r] + i * sizeof(int32_t);
          wrong += !isElement(DataType::int32, at, expected(all_[id].spec, r, 0, i));
        }
      }
    }
    CHECK(Surroundings::violation == "");
    return wrong;
  }

 private:
  struct Registered {
    CollectiveSpec spec;
    uint32_t index[kRanks];
    uint8_t* out[kRanks];
  };

  void add(uint32_t root) {
    PlannedCollective c = allReduceOf(static_cast<uint32_t>(all_.size()), kRanks, kCount);
    c.spec.collective = Collective::broadcast;
    c.spec.root = root;
    Registered& made = all_.emplace_back(Registered{c.spec, {}, {}});
    const std::vector<uint32_t> onOneHost(kRanks);
    for (uint32_t r = 0; r < kRanks; ++r) {
      made.index[r] =
          world_.registerCollective(r, c.spec, buildConnectedProgram(c.spec.collective, onOneHost, r, root, 1));
    }
  }
  void submit(uint32_t rank, uint32_t id) {
    constexpr size_t kBytes = kCount * sizeof(int32_t);
    Registered& c = all_[id];
    uint8_t* const in = memory_.allocate(kBytes);
    c.out[rank] = memory_.allocate(kBytes);
    memory_.lend(in, kBytes);
    memory_.lend(c.out[rank], kBytes);
    for (uint64_t i = 0; i < kCount; ++i)
      storeElement(c.spec.type, in + i * sizeof(int32_t), contribution(c.spec, rank, 0, i));
    REQUIRE(world_.submit(rank, c.index[rank], in, c.out[rank]).has_value());
  }
  uint64_t taken(uint32_t rank) { return world_.memory(rank).blocks[0].counters.tasksTaken.read(); }
  void step(uint32_t rank) {
    ++Surroundings::now;
    world_.tryStart(rank);
    world_.stepBlock(rank, 0);
    completed_[rank] += world_.poll(rank).has_value();
  }

  UserMemory memory_;
  const MemoryWatch watch_;
  TestWorld<AllRules> world_;
  std::vector<Registered> all_;
  size_t completed_[kRanks] = {};
};

}  // namespace

TEST_CASE("what can go on at once goes out though tasks before it wait; control: more of them than a few") {
  for (const uint32_t waiting : {0u, 1u, 2u, 3u}) {
    CAPTURE(waiting);
    Broadcasts broadcasts(waiting);
    CHECK(broadcasts.arrivesThoughRankZeroSleeps() == (waiting < 3));
    CHECK(broadcasts.finish() == 0);
  }
}

TEST_CASE("no more than a few have their first turn before those that wait have one") {
  CHECK(Broadcasts(1, 3).completedAtOnce() == 3);
  CHECK(Broadcasts(1, 6).completedAtOnce() == 4);
}

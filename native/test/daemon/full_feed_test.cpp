// A block that reads nothing of what the leader tells all blocks, until there is room for a single entry.
#include <doctest/doctest.h>

#include <vector>

#include "support/plans.hpp"

using namespace dfccl;
using namespace dfccl::test;

namespace {

constexpr uint32_t kGrid = 3;
constexpr uint64_t kCount = 6;

/// One rank, whose third block doesn't step until the test lets it.
class SlowBlock {
 public:
  SlowBlock() : memory_(1 << 16), watch_(memory_), world_(shape()) {
    Surroundings::stepBudgetBytes = 1 << 20;
    Surroundings::togetherBytes = 0;
    buffer_ = memory_.allocate(kCount * sizeof(int32_t));
    memory_.lend(buffer_, kCount * sizeof(int32_t));
  }

  /// @return the index of a collective of so many program blocks.
  uint32_t enroll(uint32_t id, uint32_t blocks) {
    const PlannedCollective c = allReduceOf(id, 1, kCount, directAllReduce(1, blocks));
    return world_.registerCollective(0, c.spec, c.program(0));
  }
  void submit(uint32_t index) { REQUIRE(world_.submit(0, index, buffer_, buffer_).has_value()); }
  void abort(uint32_t index) { world_.abort(0, index); }
  bool hasDropped(uint32_t index) { return world_.hasDropped(0, index); }

  /// Lets the first blocks step. @return what became of the one run that was submitted; nothing: it never ends.
  std::optional<CqeStatus> outcome(uint32_t blocks) {
    for (int turn = 0; turn < 1000; ++turn) {
      world_.tryStart(0);
      for (uint32_t block = 0; block < blocks; ++block) world_.stepBlock(0, block);
      if (const auto completion = world_.poll(0)) return completion->status;
    }
    return std::nullopt;
  }

  /// Until so many entries more fit in.
  void leaveRoomFor(uint32_t entries) {
    const uint32_t index = enroll(0, kGrid - 1);
    for (uint32_t run = feedCapacity(shape().limits); run > entries; --run) {
      submit(index);
      REQUIRE(outcome(kGrid - 1) == CqeStatus::completed);
    }
  }

 private:
  static WorldShape shape() {
    Random random(1);
    WorldShape shape;
    shape.ranks = 1;
    shape.limits.grid = kGrid;
    shape.policy = anyPolicy(random);
    shape.policy.quit.kind = scheduling::QuitKind::never;
    shape.tiles = {1 << 10, 1 << 10};
    return shape;
  }

  UserMemory memory_;
  const MemoryWatch watch_;
  TestWorld<AllRules> world_;
  uint8_t* buffer_ = nullptr;
};

/// Requests and then a run of all blocks, where only so many entries fit in. @return what became of the run.
std::optional<CqeStatus> runBehindAborts(uint32_t room, uint32_t aborts, bool seesNoControl) {
  SlowBlock block;
  block.leaveRoomFor(room);
  const uint32_t index = block.enroll(10, kGrid);
  std::vector<uint32_t> aborted;
  for (uint32_t i = 0; i < aborts; ++i) aborted.push_back(block.enroll(1 + i, 1));
  if (seesNoControl) Surroundings::seenControl = 0;
  for (const uint32_t other : aborted) block.abort(other);
  block.submit(index);
  CHECK(block.outcome(kGrid - 1) == std::nullopt);
  Surroundings::seenControl.reset();
  const std::optional<CqeStatus> outcome = block.outcome(kGrid);
  for (const uint32_t other : aborted) CHECK(block.hasDropped(other));
  return outcome;
}

}  // namespace

TEST_CASE("a request that takes the last place leaves the run behind it in the queue, and doesn't lose it") {
  for (uint32_t room = 0; room <= 3; ++room) {
    for (uint32_t aborts = 0; aborts <= 3; ++aborts) {
      for (const bool seesNoControl : {false, true}) {
        CAPTURE(room);
        CAPTURE(aborts);
        CAPTURE(seesNoControl);
        CHECK(runBehindAborts(room, aborts, seesNoControl) == CqeStatus::completed);
      }
    }
  }
}

// Members that are processes with addresses of their own: a mailbox names a window, and its run waits for it.
#include <doctest/doctest.h>

#include <vector>

#include "support/expected.hpp"
#include "support/plans.hpp"

using namespace dfccl;
using namespace dfccl::test;

namespace {

constexpr uint32_t kRanks = 3;
constexpr uint64_t kCount = 24;

WorldShape shapeOf(uint32_t grid) {
  Random random(1);
  WorldShape shape;
  shape.ranks = kRanks;
  shape.limits.grid = grid;
  shape.policy = anyPolicy(random);
  shape.tiles = {1 << 10, 1 << 10};
  return shape;
}

/// An all-reduce whose members see one another's buffers through tables of windows; all tables are of this process, so
/// a window's base is where the memory is.
class NamedRuns {
 public:
  explicit NamedRuns(uint32_t grid)
      : shape_(shapeOf(grid)), memory_(1 << 16), watch_(memory_), world_(shape_), random_(1), known_(kRanks) {
    Surroundings::violation.clear();
    Surroundings::stepBudgetBytes = 1 << 20;
    Surroundings::togetherBytes = 0;
    for (uint32_t r = 0; r < kRanks; ++r) {
      tables_.emplace_back(windows::kCount);
      tables_[r][0].store(windows::kUnused, order::relaxed);
      indices_.push_back(world_.registerCollective(r, c_.spec, c_.program(r)));
      views_.push_back(tables_[r].data());
    }
    CollectiveShared& shared = *world_.memory(0).collectives[indices_[0]].shared;
    shared.windows = views_.data();
    shared.knownMailboxes = known_.data();
  }

  /// A run of all ranks, with buffers that lie in `window`, of which nobody knows.
  /// @param isBehindStream it waits for a stream, which comes at once.
  void submit(uint16_t window, bool isBehindStream = false) {
    in_.clear();
    out_.clear();
    const size_t bytes = kCount * sizeof(int32_t);
    for (uint32_t r = 0; r < kRanks; ++r) {
      in_.push_back(memory_.allocate(bytes));
      out_.push_back(memory_.allocate(bytes));
      for (uint8_t* buffer : {in_[r], out_[r]}) memory_.lend(buffer, bytes);
      for (uint64_t i = 0; i < kCount; ++i) {
        storeElement(c_.spec.type, in_[r] + i * sizeof(int32_t), contribution(c_.spec, r, runs_, i));
      }
      const uint32_t flags = isBehindStream ? kSqeBehindStream : 0;
      const auto slot = world_.submit(r, indices_[r], in_[r], out_[r], flags, window, window);
      REQUIRE(slot.has_value());
      if (isBehindStream) world_.arrive(r, *slot);
    }
  }
  /// Once more, with the same buffers.
  void repeat(uint16_t window) {
    for (uint32_t r = 0; r < kRanks; ++r) {
      REQUIRE(world_.submit(r, indices_[r], in_[r], out_[r], 0, window, window).has_value());
    }
  }
  void know(uint32_t rank, uint16_t window) {
    const auto address = reinterpret_cast<uint64_t>(in_[rank]);
    tables_[rank][window].store(windows::baseOf(address, address), order::release);
  }
  void forget(uint32_t rank, uint16_t window) { tables_[rank][window].store(0, order::release); }

  /// Everybody takes so many turns. @return completions.
  uint32_t step(int turns) {
    uint32_t completed = 0;
    for (int turn = 0; turn < turns; ++turn) {
      for (uint32_t r = 0; r < kRanks; ++r) {
        ++Surroundings::now;
        world_.tryStart(r);
        for (uint32_t block = 0; block < shape_.limits.grid; ++block) world_.stepBlock(r, block);
        completed += world_.poll(r).has_value();
      }
    }
    return completed;
  }

  uint64_t wrong() {
    uint64_t wrong = 0;
    const size_t bytes = kCount * sizeof(int32_t);
    for (uint32_t r = 0; r < kRanks; ++r) {
      for (uint64_t i = 0; i < kCount; ++i) {
        wrong += !isElement(c_.spec.type, out_[r] + i * sizeof(int32_t), expected(c_.spec, r, runs_, i));
      }
      for (uint8_t* buffer : {in_[r], out_[r]}) memory_.takeBack(buffer, bytes, random_);
    }
    ++runs_;
    return wrong;
  }

 private:
  const PlannedCollective c_ = allReduceOf(0, kRanks, kCount, directAllReduce(kRanks, 2));
  const WorldShape shape_;
  UserMemory memory_;
  const MemoryWatch watch_;
  TestWorld<AllRules> world_;
  Random random_;
  std::vector<uint32_t> indices_;
  std::vector<std::vector<Atomic<uint64_t>>> tables_;  // [rank][window]
  std::vector<windows::Table> views_;
  std::vector<Mailbox> known_;
  std::vector<uint8_t*> in_, out_;
  uint64_t runs_ = 0;
};

}  // namespace

TEST_CASE("a run waits until every member's windows are known, and then completes") {
  for (const uint32_t grid : {1u, 2u}) {
    CAPTURE(grid);
    NamedRuns runs(grid);
    // From the second run on a block's part is prepared, and tried before a task is made of it.
    for (uint16_t window = 7; window < 12; ++window) {
      CAPTURE(window);
      runs.submit(window);
      CHECK(runs.step(300) == 0);
      for (uint32_t r = 0; r + 1 < kRanks; ++r) runs.know(r, window);
      CHECK(runs.step(300) == 0);
      runs.know(kRanks - 1, window);
      CHECK(runs.step(300) == kRanks);
      CHECK(runs.wrong() == 0);
      CHECK(Surroundings::violation == "");
      // The memory is freed and made anew: what the old window said must help nobody.
      for (uint32_t r = 0; r < kRanks; ++r) runs.forget(r, window);
    }
  }
}

TEST_CASE("windows that are known before the run cost it no wait, also where it waits for a stream") {
  NamedRuns runs(2);
  for (int run = 0; run < 10; ++run) {
    runs.submit(9, run % 2 != 0);
    for (uint32_t r = 0; r < kRanks; ++r) runs.know(r, 9);
    CHECK(runs.step(300) == kRanks);
    CHECK(runs.wrong() == 0);
  }
  CHECK(Surroundings::violation == "");
}

TEST_CASE("where buffers are that the run before had isn't looked up anew") {
  for (const uint32_t grid : {1u, 2u}) {
    NamedRuns runs(grid);
    runs.submit(9);
    for (uint32_t r = 0; r < kRanks; ++r) runs.know(r, 9);
    CHECK(runs.step(300) == kRanks);
    for (uint32_t r = 0; r < kRanks; ++r) runs.forget(r, 9);
    for (int again = 0; again < 3; ++again) {
      runs.repeat(9);
      CHECK(runs.step(300) == kRanks);
    }
    CHECK(runs.wrong() == 0);
    // Others are.
    runs.submit(9);
    CHECK(runs.step(300) == 0);
    for (uint32_t r = 0; r < kRanks; ++r) runs.know(r, 9);
    CHECK(runs.step(300) == kRanks);
    CHECK(runs.wrong() == 0);
  }
}

TEST_CASE("a name is not the address that it stands for") {
  const uint64_t name = windows::named(0x7f12'3456'7890, 7);
  CHECK(name != 0x7f12'3456'7890);
  std::vector<Atomic<uint64_t>> table(windows::kCount);
  CHECK(windows::seen(table.data(), name) == 0);
  table[7].store(windows::baseOf(0x7f12'3456'7000, 0x5500'0000'1000), order::relaxed);
  CHECK(windows::seen(table.data(), name) == 0x5500'0000'1890);
  CHECK(windows::named(0x7f12'3456'7890, 0) == 0x7f12'3456'7890);
}

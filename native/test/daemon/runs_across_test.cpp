// Runs of one exchange that follow one another without a wait, in buffers that are the same, apart, or lie across one
// another: whatever one of them writes and the next one reads, all is as if each had ended before the next began.
#include <doctest/doctest.h>

#include <array>
#include <string>
#include <vector>

#include "support/plans.hpp"
#include "support/seeds.hpp"

using namespace dfccl;
using namespace dfccl::test;

namespace {

constexpr uint32_t kCount = 12, kPlaces = 4 * kCount;  // elements of a buffer, and of the memory that they lie in

struct Buffers {
  uint32_t send, recv;  // where they begin
};

bool areAcross(uint32_t a, uint32_t b) { return a != b && a < b + kCount && b < a + kCount; }

/// As often one of those that are known as any other.
Buffers anyBuffers(Random& random, const std::vector<uint32_t>& known) {
  const auto anyPlace = [&] {
    return random.oneIn(2) ? known[random.below(static_cast<uint32_t>(known.size()))]
                           : random.below(kPlaces - kCount + 1);
  };
  Buffers b{};
  do b = {anyPlace(), anyPlace()};
  while (areAcross(b.send, b.recv));
  return b;
}

/// All ranks submit their runs, each in its own buffers, while blocks step in any order.
template <class Rules>
class Chain {
 public:
  Chain(Random& random, uint32_t blocks) : random_(random), memory_(1 << 16), watch_(memory_), world_(shape(random)) {
    Surroundings::violation.clear();
    Surroundings::stepBudgetBytes = 1 << 20;
    Surroundings::togetherBytes = 0;
    const uint32_t n = world_.size();
    for (uint32_t r = 0; r < n; ++r) {
      const ProgramOf program = [=](uint32_t member) { return buildExchangeProgram(n, member, blocks); };
      index_ = world_.registerCollective(r, allReduceOf(0, n, kCount).spec, program(r));
      uint8_t* const bytes = memory_.allocate(kPlaces * sizeof(int32_t));
      memory_.lend(bytes, kPlaces * sizeof(int32_t));
      places_.push_back(reinterpret_cast<int32_t*>(bytes));
      expected_.emplace_back();
      for (uint32_t i = 0; i < kPlaces; ++i) expected_[r][i] = places_[r][i] = static_cast<int32_t>(random.below(100));
    }
    // Every block has had a run, so that its part is prepared.
    const std::vector<uint32_t> starts{0, kCount, 2 * kCount, 3 * kCount};
    plan(std::vector<Buffers>(n, Buffers{0, kCount}));
    carryOut();
    for (uint32_t run = 0; run < 4; ++run) {
      std::vector<Buffers> buffers;
      for (uint32_t r = 0; r < n; ++r) buffers.push_back(anyBuffers(random, starts));
      plan(buffers);
    }
    carryOut();
  }

  bool isRight() const {
    for (uint32_t r = 0; r < world_.size(); ++r) {
      for (uint32_t i = 0; i < kPlaces; ++i) {
        if (places_[r][i] != expected_[r][i]) return false;
      }
    }
    return completed_ == planned_.size() * world_.size() && Surroundings::violation.empty();
  }

 private:
  static WorldShape shape(Random& random) { return steadyShape(2 + random.below(2), 4); }

  void plan(const std::vector<Buffers>& buffers) {
    planned_.push_back(buffers);
    std::array<int32_t, kCount> sum{};
    for (uint32_t i = 0; i < kCount; ++i) {
      for (uint32_t r = 0; r < world_.size(); ++r) {
        sum[i] = static_cast<int32_t>(static_cast<uint32_t>(sum[i]) +
                                      static_cast<uint32_t>(expected_[r][buffers[r].send + i]));
      }
    }
    for (uint32_t r = 0; r < world_.size(); ++r) {
      for (uint32_t i = 0; i < kCount; ++i) expected_[r][buffers[r].recv + i] = sum[i];
    }
  }

  void carryOut() {
    const uint32_t n = world_.size();
    submitted_.resize(n);
    for (int turn = 0; turn < 20'000 && completed_ < planned_.size() * n; ++turn) {
      ++Surroundings::now;
      const uint32_t r = random_.below(n);
      world_.tryStart(r);
      if (submitted_[r] < planned_.size() && random_.oneIn(3)) {
        const Buffers& b = planned_[submitted_[r]][r];
        submitted_[r] += world_.submit(r, index_, places_[r] + b.send, places_[r] + b.recv).has_value();
      }
      world_.stepBlock(r, random_.below(4));
      completed_ += world_.poll(r).has_value();
    }
  }

  Random& random_;
  UserMemory memory_;
  const MemoryWatch watch_;
  TestWorld<Rules> world_;
  uint32_t index_ = 0;
  std::vector<int32_t*> places_;                        // [rank]
  std::vector<std::array<int32_t, kPlaces>> expected_;  // [rank], when all that is planned is over
  std::vector<std::vector<Buffers>> planned_;           // [run][rank]
  std::vector<uint32_t> submitted_;                     // [rank]
  uint32_t completed_ = 0;
};

template <class Rules>
uint64_t wrongSeeds(uint64_t seeds) {
  uint64_t wrong = 0;
  for (uint64_t seed = 1; seed <= seeds; ++seed) {
    Random random(seed);
    const Chain<Rules> chain(random, 1 + random.below(4));
    wrong += !chain.isRight();
  }
  return wrong;
}

struct RunsOverlap : AllRules {
  static constexpr bool runsInOrder = false;
};

}  // namespace

TEST_CASE("runs of one exchange act as if each had ended before the next, wherever their buffers lie") {
  CHECK(wrongSeeds<AllRules>(seedCount(3000)) == 0);
}

TEST_CASE("control: a block that begins a run before the last one is over on all blocks reads what is not there yet") {
  const uint64_t seeds = seedCount(3000), wrong = wrongSeeds<RunsOverlap>(seeds);
  MESSAGE("without [runs in order] ", wrong, " of ", seeds, " seeds are wrong");
  CHECK(wrong != 0);
}

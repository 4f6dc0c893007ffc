// Members' counts of a run, compared before anything is moved: by hand, one look after the other.
#include <doctest/doctest.h>

#include <numeric>

#include "cpu/cpu_world.hpp"
#include "daemon/movers/interpreter.hpp"
#include "world/defaults.hpp"

using namespace dfccl;

namespace {

struct NoComparison : AllRules {
  static constexpr bool comparesCounts = false;
};

/// Two members of an all-reduce, each of which looks when it is told to.
template <class Rules>
class Pair {
 public:
  static constexpr uint64_t kMost = 40'000;

  Pair() : world_(options()) {
    for (uint32_t r = 0; r < 2; ++r) {
      CollectiveSpec spec;
      spec.id = 1u;
      spec.count = kMost;
      spec.countPerRun = true;
      spec.type = DataType::int32;
      spec.ranks = {0, 1};
      records_[r] = &world_.memory(r).collectives[world_.registerCollective(r, spec)];
      in_[r].assign(kMost, static_cast<int>(r + 1));
    }
  }

  /// A run begins: with these counts.
  void begin(uint64_t first, uint64_t second) {
    runs_[0].count = first;
    runs_[1].count = second;
    for (uint32_t r = 0; r < 2; ++r) {
      out_[r].assign(kMost, 0);
      addresses_[r] = {
          run_, reinterpret_cast<uint64_t>(in_[r].data()), reinterpret_cast<uint64_t>(out_[r].data()), 0, 0, 0};
      contexts_[r] = DynamicContext{};
    }
    ++run_;
  }

  Outcome look(uint32_t r) {
    int64_t budget = 1 << 30;
    bool progressed = false;
    const Outcome outcome = Interpreter<CpuPlatform<Rules>, true>(platform_, *records_[r], *records_[r], addresses_[r],
                                                                  runs_[r], 0, contexts_[r])
                                .advance(budget, progressed);
    if (outcome == Outcome::completed || outcome == Outcome::mismatched) {
      records_[r]->finishedRuns.fetchAdd(1, order::release);
    }
    return outcome;
  }

  /// Elements that a member's output has got.
  ptrdiff_t written(uint32_t r) const { return std::count(out_[r].begin(), out_[r].end(), 3); }
  ptrdiff_t untouched(uint32_t r) const { return std::count(out_[r].begin(), out_[r].end(), 0); }

 private:
  static WorldOptions options() {
    WorldOptions o = defaultOptions(BackendKind::cpu);
    o.ranks = 2;
    o.workers = 0;
    o.arenaBytes = size_t{16} << 20;
    return o;
  }

  CpuWorld world_;
  CpuPlatform<Rules> platform_;
  CollectiveRecord* records_[2];
  RunRecord runs_[2]{};
  RunAddresses addresses_[2]{};
  DynamicContext contexts_[2]{};
  std::vector<int> in_[2], out_[2];
  uint64_t run_ = 0;
};

}  // namespace

TEST_CASE("whoever comes last says for both: executed, apart, or over with nothing moved") {
  Pair<AllRules> pair;
  for (int round = 0; round < 3; ++round) {
    // Little: the second does it for both.
    pair.begin(5, 5);
    CHECK(pair.look(0) == Outcome::stuck);
    CHECK(pair.look(0) == Outcome::stuck);
    CHECK(pair.look(1) == Outcome::completed);
    CHECK(pair.written(0) == 5);
    CHECK(pair.look(0) == Outcome::completed);
    CHECK(pair.written(1) == 5);
    // They differ: both learn it, in any order.
    pair.begin(5, 6);
    CHECK(pair.look(1) == Outcome::stuck);
    CHECK(pair.look(0) == Outcome::mismatched);
    CHECK(pair.look(1) == Outcome::mismatched);
    CHECK(pair.untouched(0) == Pair<AllRules>::kMost);
    CHECK(pair.untouched(1) == Pair<AllRules>::kMost);
    // Much: each does its part, and waits until the other is done with its buffers.
    pair.begin(30'000, 30'000);
    CHECK(pair.look(0) == Outcome::stuck);
    CHECK(pair.look(1) == Outcome::stuck);
    CHECK(pair.written(0) == 15'000);
    CHECK(pair.look(0) == Outcome::completed);
    CHECK(pair.look(1) == Outcome::completed);
    CHECK(pair.written(0) == 30'000);
    CHECK(pair.written(1) == 30'000);
  }
}

TEST_CASE("control: without the comparison, memory is written beyond what one of them has given") {
  Pair<NoComparison> pair;
  pair.begin(6, 5);
  CHECK(pair.look(1) == Outcome::stuck);
  CHECK(pair.look(0) == Outcome::completed);
  CHECK(pair.written(1) == 6);
}

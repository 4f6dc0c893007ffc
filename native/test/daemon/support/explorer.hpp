#pragma once
// Runs one plan under one schedule. A seeded random choice decides at every point who goes next: which block of which
// rank takes a step, which thread of the application acts, who starts a daemon, who looks for completions, how the
// clock runs. A schedule can be run again from its seed.
#include <cstdint>
#include <string>
#include <vector>

#include "application.hpp"
#include "exploration.hpp"

namespace dfccl::test {

template <class Rules, template <class> class PlatformOf = TestPlatform>
class Explorer {
 public:
  using World = TestWorld<Rules, PlatformOf>;

  Explorer(const Plan& plan, uint64_t seed) : e_(plan, seed), application_(e_), speeds_(plan.shape.ranks, 1) {}

  Verdict run() {
    Verdict& verdict = e_.report.verdict;
    while (verdict.ok && !application_.isOver()) {
      if (++verdict.picks > e_.plan.maxPicks)
        e_.report.fail("not over after " + std::to_string(e_.plan.maxPicks) + " steps");
      if (e_.report.quietPicks() > e_.plan.patience) e_.report.fail("no progress");
      pick();
      if (!Surroundings::violation.empty()) e_.report.fail(Surroundings::violation);
    }
    for (uint32_t r = 0; r < e_.world.size(); ++r) {
      verdict.launches += e_.world.memory(r).counters.launches.read();
      for (const BlockMemory& block : e_.world.memory(r).blocks) {
        verdict.preemptions += block.counters.preemptions.read();
        verdict.contextSaves += block.counters.contextSaves.read();
      }
    }
    if (!verdict.ok) verdict.tail = e_.report.describeTail();
    return verdict;
  }

 private:
  void pick() {
    if (e_.random.oneIn(64)) {
      for (uint32_t& speed : speeds_) speed = e_.random.among({0u, 1u, 1u, 4u, 16u});
    }
    Surroundings::now += 1;
    const uint32_t dice = e_.random.below(100);
    if (dice < 62) {
      stepSome();
    } else if (dice < 80) {
      application_.actSome();
    } else if (dice < 90) {
      const uint32_t r = anyRank();
      if (!application_.isFreeing(r) && e_.world.tryStart(r)) e_.report.note("start", r);
    } else if (dice < 98) {
      application_.poll(anyRank());
    } else {
      Surroundings::now += e_.random.below(e_.random.oneIn(4) ? 5000 : 50);
    }
  }

  uint32_t anyRank() { return e_.random.below(e_.world.size()); }

  void stepSome() {
    if (e_.random.oneIn(16)) application_.endWaits(anyRank());
    uint32_t total = 0;
    for (const uint32_t speed : speeds_) total += speed;
    uint32_t r = anyRank();
    if (total != 0) {
      uint32_t at = e_.random.below(total);
      for (r = 0; at >= speeds_[r]; ++r) at -= speeds_[r];
    }
    const uint32_t block = e_.random.below(e_.plan.shape.limits.grid);
    const uint64_t picks = e_.report.verdict.picks;
    // Now and then the thread that has a block loses its processor for long.
    if (picks >= heldUntil_ && e_.random.oneIn(256)) {
      heldUntil_ = picks + e_.random.below(4000);
      heldRank_ = r;
      heldBlock_ = block;
    }
    if (picks < heldUntil_ && r == heldRank_ && block == heldBlock_) return;
    const bool wasThere = e_.world.isResident(r);
    if (e_.world.stepBlock(r, block)) e_.report.note("step", r, block);
    if (wasThere && !e_.world.isResident(r)) e_.report.note("left", r);
  }

  Exploration<World> e_;
  Application<World> application_;
  std::vector<uint32_t> speeds_;  // [rank]
  uint64_t heldUntil_ = 0;
  uint32_t heldRank_ = 0, heldBlock_ = 0;
};

template <class Rules, template <class> class PlatformOf = TestPlatform>
Verdict explore(const Plan& plan, uint64_t seed) {
  return Explorer<Rules, PlatformOf>(plan, seed).run();
}

// All tests run this one: it is compiled once, in explore_all_rules.cpp, instead of in each of them.
extern template Verdict explore<AllRules>(const Plan& plan, uint64_t seed);

}  // namespace dfccl::test

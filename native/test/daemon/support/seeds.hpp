#pragma once
// A rule holds when every seed's schedule ends well; its control, the same schedules with the rule taken out, must end
// badly for at least one of them. DFCCL_SEEDS multiplies the number of seeds; the long tier takes twenty times as many.
#include <doctest/doctest.h>

#include <cstdlib>
#include <string>

#include "explorer.hpp"

namespace dfccl::test {

inline uint64_t seedCount(uint64_t base) {
#if defined(DFCCL_SANITIZED)
  base = (base + 3) / 4;
#endif
  if (const char* factor = std::getenv("DFCCL_SEEDS"))
    return static_cast<uint64_t>(static_cast<double>(base) * std::atof(factor));
  const char* tier = std::getenv("DFCCL_TEST_TIER");
  return tier != nullptr && std::string(tier) == "long" ? base * 20 : base;
}

struct Totals {
  uint64_t completions = 0, preemptions = 0, launches = 0, contextSaves = 0;
};

/// @param makePlan Random& -> Plan
template <class MakePlan>
Totals everySeedHolds(uint64_t seeds, const MakePlan& makePlan) {
  Totals totals;
  for (uint64_t seed = 1; seed <= seedCount(seeds); ++seed) {
    Random random(seed);
    Plan plan = makePlan(random);
    // Where the leader has hardly any room to tell the blocks anything, it waits for the slowest all the time.
    if (seed % 4 == 0) plan.shape.limits.feedEntries = 1u << (seed / 4 % 3);
    const Verdict verdict = explore<AllRules>(plan, seed);
    INFO("seed ", seed, ": ", verdict.why, "; at the end:", verdict.tail);
    REQUIRE(verdict.ok);
    totals.completions += verdict.completions;
    totals.preemptions += verdict.preemptions;
    totals.launches += verdict.launches;
    totals.contextSaves += verdict.contextSaves;
  }
  return totals;
}

/// Prints the first seed that fails, how, and how its schedule ended.
template <class Control, class MakePlan>
void someSeedFails(const std::string& ruleTakenOut, uint64_t seeds, const MakePlan& makePlan) {
  bool isCaught = false;
  for (uint64_t seed = 1; !isCaught && seed <= seedCount(seeds); ++seed) {
    Random random(seed);
    const Plan plan = makePlan(random);
    const Verdict verdict = explore<Control>(plan, seed);
    isCaught = !verdict.ok;
    if (isCaught)
      MESSAGE("without [", ruleTakenOut, "] seed ", seed, " fails: ", verdict.why, "; at the end:", verdict.tail);
  }
  INFO("without [", ruleTakenOut, "] all ", seedCount(seeds), " seeds hold");
  CHECK(isCaught);
}

}  // namespace dfccl::test

// daemon/platform.hpp says enough to bring the daemon to another machine: a platform that was written from it alone
// keeps the promise under the explorer.
#include "support/plans.hpp"
#include "support/seeds.hpp"
#include "support/toy_platform.hpp"

using namespace dfccl;
using namespace dfccl::test;

TEST_CASE("a platform that has only what is required completes any collectives in any order") {
  Totals totals;
  for (uint64_t seed = 1; seed <= seedCount(500); ++seed) {
    Random random(seed);
    const Plan plan = anyPlan(random);
    const Verdict verdict = explore<AllRules, ToyPlatform>(plan, seed);
    INFO("seed ", seed, ": ", verdict.why, "; at the end:", verdict.tail);
    REQUIRE(verdict.ok);
    totals.completions += verdict.completions;
    totals.preemptions += verdict.preemptions;
    totals.launches += verdict.launches;
  }
  CHECK(totals.completions > 0);
  CHECK(totals.preemptions > totals.completions / 8);
  CHECK(totals.launches > totals.completions / 8);
}

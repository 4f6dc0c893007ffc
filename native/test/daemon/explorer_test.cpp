// The promise as a whole: whatever is submitted in whatever order by whom, with synchronizations between, under any
// policy and any schedule, every run completes, bit for bit, in a bounded number of steps.
#include "support/plans.hpp"
#include "support/seeds.hpp"

using namespace dfccl;
using namespace dfccl::test;

TEST_CASE("any collectives in any order complete under any schedule and any policy that preempts") {
  const Totals totals = everySeedHolds(3000, anyPlan);
  // The schedules are worth something only if what they are about happens in them.
  CHECK(totals.preemptions > totals.completions / 4);
  CHECK(totals.launches > totals.completions / 4);
  CHECK(totals.contextSaves > totals.completions / 4);
  MESSAGE(totals.completions, " runs, ", totals.preemptions, " preemptions, ", totals.launches, " stays, ",
          totals.contextSaves, " contexts saved");
}

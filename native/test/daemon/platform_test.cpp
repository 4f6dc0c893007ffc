// daemon/platform.hpp says enough to bring the daemon to another machine: a platform that was written from it alone
// keeps the promise under the explorer. One that gets a piece wrong, or a daemon that lacks a rule, breaks it there
// too.
#include <string>
#include <utility>

#include "support/plans.hpp"
#include "support/seeds.hpp"
#include "support/toy_platform.hpp"

using namespace dfccl;
using namespace dfccl::test;

namespace {

/// Looks for no flags: whatever lies in a slot is taken for the message.
template <class Rules>
struct CredulousPlatform : ToyPlatform<Rules> {
  static bool hasArrived(Protocol, const Connector&, size_t) { return true; }
};
/// Never says that it is done with the others' buffers.
template <class Rules>
struct SilentPlatform : ToyPlatform<Rules> {
  static void finishAccess(const MeetingPlaces&) {}
};
/// Takes a peer's mailbox for this run's, whichever it carries.
template <class Rules>
struct HastyPlatform : ToyPlatform<Rules> {
  static uint32_t lookForMailboxes(const MeetingPlaces& places, uint64_t, uint32_t) { return places.members; }
};

struct NoVote : AllRules {
  static constexpr bool voteBeforeWrite = false;
};
struct UnsavedContexts : AllRules {
  static constexpr bool saveDirtyContexts = false;
};
struct UnsavedQueue : AllRules {
  static constexpr bool saveQueue = false;
};

/// The first of so many seeds that fails; 0 if none does.
template <class Rules, template <class> class PlatformOf>
std::pair<uint64_t, Verdict> firstFailure(uint64_t seeds) {
  for (uint64_t seed = 1; seed <= seedCount(seeds); ++seed) {
    Random random(seed);
    const Verdict verdict = explore<Rules, PlatformOf>(anyPlan(random), seed);
    if (!verdict.ok) return {seed, verdict};
  }
  return {};
}

template <class Rules, template <class> class PlatformOf>
void someSeedFailsOn(const std::string& what) {
  const auto [seed, verdict] = firstFailure<Rules, PlatformOf>(500);
  CAPTURE(what);
  CHECK(seed != 0);
  if (seed != 0) MESSAGE(what, ": seed ", seed, " fails: ", verdict.why, "; at the end:", verdict.tail);
}

}  // namespace

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

TEST_CASE("the explorer finds what is wrong with a platform") {
  someSeedFailsOn<AllRules, CredulousPlatform>("no flags are looked for");
  someSeedFailsOn<AllRules, SilentPlatform>("no access is finished");
  someSeedFailsOn<AllRules, HastyPlatform>("mailboxes of any run are taken");
}

TEST_CASE("the daemon's rules are what keeps the promise there too") {
  someSeedFailsOn<NoVote, ToyPlatform>("no vote before a write");
  someSeedFailsOn<UnsavedContexts, ToyPlatform>("contexts are not saved");
  someSeedFailsOn<UnsavedQueue, ToyPlatform>("the queue is not saved");
}

// Ranks in processes of their own register an id anew at their own pace.
#include <doctest/doctest.h>

#include <chrono>
#include <optional>

#include "processes/support/expect.hpp"
#include "processes/support/joined_rank.hpp"
#include "processes/support/processes.hpp"
#include "processes/support/shared_board.hpp"
#include "processes/support/shared_count.hpp"

using namespace dfccl;
using namespace dfccl::test;

namespace {

constexpr uint32_t kRanks = 3, kId = 4;
constexpr uint64_t kCount = 8;
// One after the other, as often as it stands there; what comes behind the first is a registration anew.
constexpr uint32_t kTurns[] = {1, 0, 0, 2, 1, 2};

/// @return whether the run was over within the limit.
bool completes(JoinedRank& own, JoinedRank::AllReduce& c) {
  const uint32_t slot = own.submit(c);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  for (dfcclResult_t status; !own.world().rank(own.number()).takeCompletion(slot, status); own.step()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
  }
  return JoinedRank::wrong(c) == 0;
}

}  // namespace

TEST_CASE("a rank that is behind joins the oldest registration of an id that it has not been in") {
  const std::string job = newJob();
  const SharedBoard<SharedCount> turns;
  Processes processes(kRanks, [&](uint32_t rank) -> int {
    JoinedRank own(job, rank, kRanks);
    std::optional<JoinedRank::AllReduce> sum;
    uint32_t turn = 0;
    for (const uint32_t whose : kTurns) {
      EXPECT(turns->await(turn));
      if (whose == rank) {
        if (sum) own.world().unregisterCollective(rank, sum->index, 0);
        sum = own.add(kId, kCount, allRanks(kRanks));
        turns->add(1);
      }
      ++turn;
    }
    EXPECT(turns->await(turn));
    EXPECT(completes(own, *sum));
    return kFine;
  });
  for (uint32_t r = 0; r < kRanks; ++r) CHECK(processes.join(r) == kFine);
}

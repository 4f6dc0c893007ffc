#include "world/rank.hpp"

namespace dfccl {

Rank::Rank(uint32_t number, const RankLimits& limits, const scheduling::SchedulePolicy& policy,
           const SharedTables& shared)
    : detail::RankStorage{{number, limits, policy, shared}},
      RankQueues(memory_, &memory_.counters.completionsPosted.value),
      daemon_(memory_) {}

}  // namespace dfccl

#include "cpu/cpu_rank.hpp"

namespace dfccl {

CpuRank::CpuRank(uint32_t number, const RankLimits& limits, const scheduling::SchedulePolicy& policy,
                 const SharedTables& shared)
    : detail::RankStorage{{number, limits, policy, shared}},
      RankQueues(memory_, &memory_.counters.completionsPosted.value),
      daemon_(memory_) {}

}  // namespace dfccl

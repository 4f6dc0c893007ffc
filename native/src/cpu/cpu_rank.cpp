#include "cpu/cpu_rank.hpp"

#include <utility>

namespace dfccl {

CpuRank::CpuRank(uint32_t number, const RankLimits& limits, const scheduling::SchedulePolicy& policy,
                 std::function<void()> ring, const SharedTables& shared)
    : detail::RankStorage{{number, limits, policy, shared}},
      RankQueues(memory_, &memory_.counters.completionsPosted.value, std::move(ring)),
      daemon_(memory_) {}

}  // namespace dfccl

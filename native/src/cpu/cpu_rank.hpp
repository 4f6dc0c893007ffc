#pragma once
// One rank whose daemon runs in this process.
#include <cstdint>
#include <functional>

#include "cpu/cpu_platform.hpp"
#include "cpu/cpu_rank_memory.hpp"
#include "daemon/loop/rank_daemon.hpp"
#include "world/rank_queues.hpp"

namespace dfccl {

namespace detail {
/// The queues refer to it, so it comes first.
struct RankStorage {
  CpuRankMemory memory_;
};
}  // namespace detail

class CpuRank : private detail::RankStorage, public RankQueues {
 public:
  /// @param ring as RankQueues'
  CpuRank(uint32_t number, const RankLimits& limits, const scheduling::SchedulePolicy& policy,
          std::function<void()> ring, const SharedTables& shared = {});

  uint32_t number() const { return memory_.rank; }
  RankMemory& memory() { return memory_; }
  const RankMemory& memory() const { return memory_; }
  RankDaemon<CpuPlatform<>>& daemon() { return daemon_; }

  /// After submitExit(): the daemon has left, and won't come back before reopen().
  bool hasExited() const {
    return memory_.residency.exited.load(order::acquire) != 0 && memory_.residency.resident.load(order::seqCst) == 0;
  }
  /// @pre hasExited(), or the daemon was never told to exit.
  void reopen() { memory_.residency.exited.store(0, order::release); }

  bool step(CpuPlatform<>& platform) { return daemon_.step(platform); }
  /// Entries that the daemon has not seen, or runs that it has not finished.
  bool hasWork() const { return daemon_.needsStart(); }

 private:
  RankDaemon<CpuPlatform<>> daemon_;
};

}  // namespace dfccl

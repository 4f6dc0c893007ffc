#pragma once
// Ranks on simulated devices of several make-believe machines: processes that share no memory, and meet over loopback.
#include <cstdlib>
#include <functional>
#include <string>

#include "network/support/rendezvous_points.hpp"
#include "simulated/joined_rank.hpp"

namespace dfccl::gpu::simulated::test {

/// Of a rank that is stopped, or cut off. On a busy machine one that is well may be silent for seconds.
inline constexpr uint32_t kMuteMillis = 4000;

struct Machines {
  uint32_t count, ranksEach;
  uint32_t ranks() const { return count * ranksEach; }
};

/// As a launcher starts rank `rank` of them.
inline void setLaunch(const std::string& job, uint16_t port, uint32_t rank, const Machines& machines) {
  const auto set = [](const char* name, const std::string& value) { setenv(name, value.c_str(), 1); };
  set("DFCCL_RANK", std::to_string(rank));
  set("DFCCL_WORLD_SIZE", std::to_string(machines.ranks()));
  set("DFCCL_JOB", job);
  set("DFCCL_ADDRESS", "127.0.0.1:" + std::to_string(port));
  set("DFCCL_JOB_SECRET", kSecret);
  set("DFCCL_HOST", "machine " + std::to_string(rank / machines.ranksEach));
}

/// Joins as the environment says.
inline int joinLaunched(Joined& joined, uint32_t muteMillis = 0, uint32_t collectives = 0,
                        size_t arenaMegabytes = 256) {
  dfcclJoinConfig_t config = DFCCL_JOIN_CONFIG_INIT;
  config.world.backend = dfcclCuda;
  config.world.grid = 3;
  config.world.arenaBytes = arenaMegabytes << 20;
  config.world.collectives = collectives;
  config.muteMillis = muteMillis;
  OK(dfcclJoinWorld(&config, &joined.world, &joined.rank));
  OK(dfcclInitRank(joined.world, joined.rank, &joined.context));
  OK(dfcclGetRankCount(&joined.ranks, joined.context));
  cudaSetDevice(joined.rank % 4);
  return kFine;
}

/// Each rank of them, in a process of its own. Ends it with the world left, unless `run` says that something is wrong.
inline void onMachines(const Machines& machines, const std::function<int(Joined& me)>& run, uint32_t muteMillis = 0,
                       uint32_t collectives = 0, size_t arenaMegabytes = 256) {
  const std::string job = newJob();
  const OwnPort port;
  Processes processes(machines.ranks(), [&](uint32_t rank) -> int {
    setLaunch(job, port.number(), rank, machines);
    Joined me;
    if (const int failed = joinLaunched(me, muteMillis, collectives, arenaMegabytes); failed != kFine) return failed;
    if (const int failed = run(me); failed != kFine) return failed;
    return leave(me);
  });
  checkAllFine(processes, machines.ranks());
}

}  // namespace dfccl::gpu::simulated::test

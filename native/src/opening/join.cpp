#include "opening/join.hpp"

#include "base/error.hpp"
#include "network/join_hosts.hpp"
#include "opening/segment_shape.hpp"
#include "processes/rendezvous.hpp"
#include "world/gpu_backend.hpp"

namespace dfccl {

// Worlds lie this far apart in a process's addresses, with room for all that isn't the arena.
constexpr size_t kMostArenaBytes = size_t{1} << 39;

void join(WorldOptions& options, const std::string& job, uint32_t rank, uint32_t timeoutMillis,
          const Atomic<uint32_t>* isCancelled, const RendezvousPoint* point) {
  checkOptions(options);
  if (rank >= options.ranks) {
    throw Error(dfcclInvalidArgument,
                "Rank " + std::to_string(rank) + " is not in a world of " + std::to_string(options.ranks) + " ranks.",
                "Allowed: 0 to " + std::to_string(options.ranks - 1) + ".", {{"rank", std::to_string(rank)}});
  }
  if (options.arenaBytes > kMostArenaBytes) {
    throw Error(dfcclInvalidArgument, "World option arenaBytes is " + std::to_string(options.arenaBytes) + ".",
                "Allowed: up to " + std::to_string(kMostArenaBytes) + ".",
                {{"field", "arenaBytes"}, {"value", std::to_string(options.arenaBytes)}});
  }
  RendezvousOptions meeting;
  meeting.job = job;
  meeting.rank = rank;
  meeting.timeoutMillis = timeoutMillis;
  meeting.isCancelled = isCancelled;
  meeting.shape = shapeOf(options);
  if (options.backend != BackendKind::cpu) prepareGpu(options, rank);
  if (point != nullptr) return joinHosts(options, meeting, *point);
  options.segment = meet(meeting);
}

}  // namespace dfccl

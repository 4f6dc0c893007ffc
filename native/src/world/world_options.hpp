#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "daemon/state/rank_memory.hpp"
#include "program/program_loader.hpp"

namespace dfccl {

class Segment;
struct Network;

enum class BackendKind : uint8_t { cpu, cuda };

struct WorldOptions {
  uint32_t ranks = 1;
  RankLimits limits;
  scheduling::SchedulePolicy policy;  // times in nanoseconds; converted to the platform's ticks
  TileSizes tiles;
  size_t arenaBytes = size_t{1} << 30;  // of the world; on GPUs, of each rank
  uint32_t workers = 1;                 // CPU: threads that step; 0: only callers who wait or drive
  BackendKind backend = BackendKind::cpu;
  // Where the ranks are processes: this one has the segment's rank, and the others meet it there.
  std::shared_ptr<Segment> segment;
  std::shared_ptr<Network> network;  // where some of them are on other machines
  uint32_t muteMillis = 10'000;      // another process without a sign of life for so long is given up
  std::vector<int> devices;          // GPUs: of each rank; empty: the ranks take turns over all that there are
};

/// @throws Error dfcclInvalidArgument that names the first option out of range, and what is allowed.
void checkOptions(const WorldOptions& options);

}  // namespace dfccl

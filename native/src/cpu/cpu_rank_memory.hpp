#pragma once
// A rank's memory in this process.
#include <cstddef>
#include <vector>

#include "daemon/state/rank_memory.hpp"
#include "reduce_copy/result_stores.hpp"
#include "world/zeroed_table.hpp"

namespace dfccl {

/// What other processes look at too, where ranks are processes; else null. Zeroed.
struct SharedTables {
  ControlRing* control = nullptr;
  CollectiveRecord* collectives = nullptr;  // [limits.collectives]
};

namespace detail {

struct CpuRankTables {
  CpuRankTables(const RankLimits& limits, const SharedTables& shared);

  struct Block {
    explicit Block(const RankLimits& limits);
    ZeroedTable<QueueEntry> queue, savedQueue;
    ZeroedTable<RunAddresses> takenRuns;
    // A block writes both of a run before it reads them.
    ZeroedTable<uint32_t> nextRun, lastRun;
  };
  struct alignas(64) CacheLine {
    std::byte bytes[64];
  };

  Residency residencyMemory{};
  ControlRing controlMemory{};
  RankCounters counterMemory{};
  ZeroedTable<RunRecord> runTable;
  ZeroedTable<uint32_t> partsTable;
  ZeroedTable<CollectiveRecord> collectiveTable;
  ZeroedTable<ResultStores> resultStores;
  ZeroedTable<TaskContext> contextTable;
  ZeroedTable<uint8_t> activeTable;
  std::vector<BlockMemory> blockTable;
  std::vector<Block> blockTables;
  ZeroedTable<CacheLine> submissionMemory, completionMemory, feedMemory;
};

}  // namespace detail

class CpuRankMemory : private detail::CpuRankTables, public RankMemory {
 public:
  /// @throws std::bad_alloc
  CpuRankMemory(uint32_t rank, const RankLimits& limits, const scheduling::SchedulePolicy& policy,
                const SharedTables& shared = {});
  CpuRankMemory(const CpuRankMemory&) = delete;
  CpuRankMemory& operator=(const CpuRankMemory&) = delete;

  /// Of the collective that gets this index: as if it had never run.
  ResultStores* renewStores(uint32_t index);

  /// Doubles a block's task queue. @return the new one, with the former's entries. @pre the caller steps the block.
  Array<QueueEntry> growTaskQueue(uint32_t block);
};

}  // namespace dfccl

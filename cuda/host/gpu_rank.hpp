#pragma once
// One rank on a GPU as the host sees it: its queues, its memory on the device, and the thread that starts its daemon.
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "device/daemon_kernel.cuh"
#include "dfccl/queues/submission_producer.hpp"
#include "dfccl/status.h"
#include "host/memory.hpp"
#include "world/task_table.hpp"

namespace dfccl::gpu {

struct GpuRankOptions {
  RankLimits limits;
  scheduling::SchedulePolicy policy;  // times in nanoseconds, which are the device's ticks
  size_t arenaBytes = size_t{256} << 20;
  uint64_t watchdogNanos = 2'000'000'000;  // a stay longer than this is given up
};

class GpuRank {
 public:
  static constexpr uint32_t kFull = kNoCompletionSlot;

  /// @throws Error
  GpuRank(uint32_t number, int device, const GpuRankOptions& options);
  /// Lets the daemon leave for good. @pre nothing is in flight, or isLost().
  ~GpuRank();
  GpuRank(const GpuRank&) = delete;
  GpuRank& operator=(const GpuRank&) = delete;

  uint32_t number() const { return number_; }
  int device() const { return arena_.device(); }
  DeviceArena& arena() { return arena_; }
  TaskTable& tasks() { return tasks_; }
  const RankLimits& limits() const { return options_.limits; }
  /// The record as the device has it: its tables are device addresses.
  const RankMemory& memory() const { return *memory_; }

  /// Queues one run; any thread. @return its completion slot, or kFull: nothing was queued.
  uint32_t submit(uint32_t index, const void* send, void* recv);
  /// Has the run that claimed `slot` completed? Frees the slot if so.
  bool takeCompletion(uint32_t slot, dfcclResult_t& status);
  uint64_t inFlight() const { return issued_.load(order::acquire) - taken_.load(order::acquire); }

  /// The watchdog has given a stay up, or CUDA reports a fault: nothing more will complete.
  bool isLost() const { return isLost_.load(order::acquire) != 0; }
  /// Stays so far.
  uint64_t launches() const { return launches_.load(order::relaxed); }
  std::vector<BlockCounters> readCounters();
  /// The last moments of every block, and behind them those of the leader's polling warp. While a daemon is resident, a
  /// ring's count is that of its last stay.
  std::vector<TraceRing> readTraces();
  /// Of every block, what is left in its queue: for a report when something is stuck.
  std::vector<uint32_t> readSavedLengths();

 private:
  void keep();
  void launch();
  bool needsStart() const;

  const uint32_t number_;
  const GpuRankOptions options_;
  DeviceArena arena_;
  PinnedMemory pinned_;
  std::unique_ptr<RankMemory> memory_;
  RankMemory* deviceMemory_ = nullptr;
  LaunchArguments arguments_{};
  StayReport* report_ = nullptr;
  TaskTable tasks_;
  cudaStream_t stream_ = nullptr;
  std::unique_ptr<EngineSubmissionProducer> producer_;
  std::unique_ptr<CompletionOwnedSlots<>::Claimer> claimer_;
  std::unique_ptr<CompletionOwnedSlots<>::Poller> poller_;
  alignas(64) Atomic<uint64_t> issued_;
  alignas(64) Atomic<uint64_t> taken_;
  Atomic<uint32_t> pollLock_;
  Atomic<uint64_t> launches_;
  Atomic<uint32_t> isLost_;
  Atomic<uint32_t> stopping_;
  std::thread keeper_;
};

}  // namespace dfccl::gpu

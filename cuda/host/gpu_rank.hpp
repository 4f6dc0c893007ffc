#pragma once
// One rank on a GPU as the host sees it: its queues, its memory on the device, and the thread that starts its daemon.
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "cpu/bell.hpp"
#include "device/daemon_kernel.cuh"
#include "host/index_table.hpp"
#include "host/memory.hpp"
#include "host/rank_on_device.hpp"
#include "host/rank_streams.hpp"
#include "world/backend.hpp"

namespace dfccl::gpu {

struct GpuRankOptions {
  RankLimits limits;
  scheduling::SchedulePolicy policy;  // times in nanoseconds, which are the device's ticks
  size_t arenaBytes = size_t{256} << 20;
  uint64_t watchdogNanos = 2'000'000'000;  // a stay longer than this is given up
};

class GpuRank {
 public:
  static constexpr uint32_t kFull = RankQueues::kFull;

  /// @param bell on which the thread that starts the daemon sleeps while there is nothing to do.
  /// @throws Error
  GpuRank(uint32_t number, int device, const GpuRankOptions& options, Bell& bell);
  ~GpuRank();
  GpuRank(const GpuRank&) = delete;
  GpuRank& operator=(const GpuRank&) = delete;

  uint32_t number() const { return number_; }
  int device() const { return arena_.device(); }
  DeviceArena& arena() { return arena_; }
  const RankLimits& limits() const { return options_.limits; }
  /// The record as the device has it: its tables are device addresses.
  RankMemory& memory() { return *memory_; }
  RankQueues& queues() { return *queues_; }

  /// Queues one run; any thread. @return its completion slot, or kFull: nothing was queued.
  uint32_t submit(uint32_t index, const void* send, void* recv) {
    const uint32_t slot = queues_->submit(index, send, recv, nullptr, nullptr);
    bell_.ring();
    return slot;
  }
  /// Queues a run that begins when the stream comes to where it is now. @return its completion slot, or kFull.
  /// @throws Error dfcclInvalidArgument: no such stream.
  uint32_t submitOnStream(uint32_t index, const void* send, void* recv, cudaStream_t stream, RunCallback callback,
                          void* argument, RunWindows windows = {});
  /// Lets a stream wait for all runs of a collective that are queued. Where this is the process's only rank on the
  /// device, the daemon stays until then; waits for the daemon to know, or for its start to be on its way.
  /// @throws Error dfcclInvalidArgument, dfcclUnavailable, dfcclSystemError
  void waitOnStream(uint32_t index, cudaStream_t stream);
  /// Has the run that claimed `slot` completed? Frees the slot if so.
  bool takeCompletion(uint32_t slot, dfcclResult_t& status) { return queues_->takeCompletion(slot, status); }
  uint64_t inFlight() const { return queues_->inFlight(); }

  /// A number for a collective, and as many in a row for its tasks as its program has blocks. May wait for the end of a
  /// stay, some milliseconds. @throws Error dfcclOutOfMemory; also where the wait would be for streams that wait.
  IndexTable::Place takePlace(uint32_t blockCount);
  /// @param issued runs of it, all of them over.
  void giveBack(const IndexTable::Place& place, uint64_t issued) {
    streams_.retire(place.index, issued);
    places_.retire(place);
  }
  /// Asks the daemon to drop an aborted collective.
  void askToDrop(uint32_t index);

  /// Starts no more daemons, and waits for the one that is there: at most as long as a stay.
  void stop();
  /// Waits until no daemon is there. @pre nothing is in flight.
  void leave();
  /// The watchdog has given a stay up, or CUDA reports a fault: nothing more will complete.
  bool isLost() const { return isLost_.load(order::acquire) != 0; }
  /// @pre isLost()
  const std::string& lostBecause() const { return lostBecause_; }
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
  bool hasRequests() const;
  bool awaitsStream() const { return streams_.isAwaited(report_->noticesTaken.load(order::relaxed)); }
  void lookForFaults();
  void lose(const std::string& reason);
  void announceWait(uint32_t index, uint32_t target);
  void releaseStreams();
  void recyclePlaces();
  bool tryRecycle();
  void leaveUnlessHeld();
  void recycleOut();

  const uint32_t number_;
  const GpuRankOptions options_;
  const RankOnDevice onDevice_;
  DeviceArena arena_;
  PinnedMemory pinned_;
  RankStreams streams_;
  std::unique_ptr<RankMemory> memory_;
  RankMemory* deviceMemory_ = nullptr;
  LaunchArguments arguments_{};
  StayReport* report_ = nullptr;
  IndexTable places_;
  Bell& bell_;
  std::unique_ptr<RankQueues> queues_;
  cudaStream_t stream_ = nullptr;
  std::mutex launching_;  // held to launch, or to keep the daemon out
  Atomic<uint64_t> launches_;
  Atomic<uint64_t> launched_;  // the last launch that CUDA has accepted
  std::mutex losing_;
  std::string lostBecause_;  // written before isLost_
  Atomic<uint32_t> isLost_;
  Atomic<uint32_t> stopping_;
  std::thread keeper_;
};

}  // namespace dfccl::gpu

#pragma once
// One rank on a GPU as the host sees it: its queues, its memory on the device, and the thread that starts its daemon.
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "device/daemon_kernel.cuh"
#include "host/driver/index_table.hpp"
#include "host/driver/memory.hpp"
#include "host/driver/rank_requests.hpp"
#include "host/member/gpu_member.hpp"
#include "host/member/held_members.hpp"
#include "host/rank/device_waits.hpp"
#include "host/rank/rank_streams.hpp"
#include "os/bell.hpp"
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
  /// For a run that begins when the stream comes to where it is now. @return nothing: kFull.
  /// @throws Error dfcclInvalidArgument: no such stream.
  std::unique_ptr<Backend::EnteredStream> enterStream(cudaStream_t stream);
  /// Lets a stream wait for all runs of a collective that are queued. Until then the daemons of all ranks that the
  /// process has on the device stay; those that are out are launched before the stream gets its wait. Where streams
  /// can't wait, the caller does. @throws Error dfcclInvalidArgument, dfcclUnavailable, dfcclSystemError
  void waitOnStream(uint32_t index, cudaStream_t stream, uint64_t runs);
  /// Whether what the stream is given becomes part of a graph. To be asked before either of the two.
  /// @throws Error dfcclInvalidArgument: no such stream.
  std::optional<uint64_t> captureOf(cudaStream_t stream) const { return streams_.captureOf(stream); }
  /// Which stream it is, of all that there ever were. @throws Error dfcclInvalidArgument: none of the rank's device
  uint64_t idOfStream(cudaStream_t stream) { return streams_.idOf(stream); }
  /// As DeviceWaits has it, on this rank's device.
  std::shared_ptr<const WaitingRoom::Part> takeRoom(const WaitingRoom::Wish& wish) { return waits_->takeRoom(wish); }
  /// Launches runs in a stream of the rank's device. @throws Error dfcclSystemError
  void launchInStream(const CapturedRun* runs, uint32_t count, cudaStream_t stream);
  /// Nothing of it completes any more.
  void lose(const std::string& reason);
  /// Has the run that claimed `slot` completed? Frees the slot if so.
  bool takeCompletion(uint32_t slot, dfcclResult_t& status) { return queues_->takeCompletion(slot, status); }
  uint64_t inFlight() const { return queues_->inFlight(); }

  /// A number for a collective, and as many in a row for its tasks as its program has blocks.
  /// @throws Error dfcclOutOfMemory
  IndexTable::Entry takePlace(uint32_t blockCount);
  /// @param issued runs of it, all of them over.
  void giveBack(const IndexTable::Entry& place, uint64_t issued) {
    streams_.retire(place.index, issued);
    places_.retire(place);
  }
  /// A place's collective goes on behind runs that it had at another place.
  void follow(const IndexTable::Entry& place, uint64_t runs) { streams_.follow(place.index, runs); }
  /// For the notes of captured collectives, see HeldMembers. Under the lock of the world's registrations.
  bool hasCapturedNotes() const { return held_.hasNotes(); }
  void addCapturedNotes(std::unique_ptr<PinnedMemory> notes) { held_.add(std::move(notes)); }
  /// Memory of graphs that are gone by now serves others.
  void freeUnheld() { held_.sweep(); }
  /// What kernels look at that may outlive the rank.
  void keepForGraphs(std::shared_ptr<PinnedMemory> memory) { held_.keep(std::move(memory)); }
  MemberHome homeOf(uint32_t index) {
    return {&memory_->collectives[index], &memory_->posted[index], limits().grid, &held_, knownWindows_};
  }
  /// Asks the daemon to drop an aborted collective.
  void askToDrop(uint32_t index) { requests_.abort(index); }

  // For streams that are about to wait, see DeviceWaits. A rank that is lost, or ends, is as if it were inside.
  /// Launches the daemon where there is none, or none that stays for what is awaited now. Late: CUDA has kept the
  /// caller waiting, see BarrierProbe.
  enum class Start { none, atOnce, late };
  Start startIfOut();
  /// Launches one that stays for what the table of that generation says, behind the one that is there, if it is.
  Start startSuccessor(uint32_t generation);
  /// Launches that have not begun.
  uint64_t launchesAhead() const {
    const uint64_t begun = report_->entered.load(order::seqCst);
    return launches_.load(order::seqCst) - begun;
  }
  /// No daemon is there, or none that stays for what is awaited now, or none whose launch CUDA has accepted.
  bool isOut() const;
  /// The daemon has said that it is about to leave.
  bool isLeaving() const { return !isOver() && launchesAhead() == 0 && report_->leaving.load(order::seqCst) != 0; }

  /// Starts no more daemons, and waits for the one that is there: at most as long as a stay.
  void stop();
  /// Waits until no daemon is there. @pre nothing is in flight.
  void leave();
  /// The watchdog has given a stay up, or CUDA reports a fault: nothing more will complete.
  bool isLost() const { return isLost_.load(order::acquire) != 0; }
  /// Runs of graphs that came to no result. Under the lock of the world's registrations.
  uint64_t endedInGraphs() const { return held_.ended(); }
  /// @pre isLost()
  const std::string& lostBecause() const { return lostBecause_; }
  /// Stays so far.
  uint64_t launches() const { return launches_.load(order::relaxed); }
  std::vector<BlockCounters> readCounters() const;
  RankCounters readRankCounters() const;
  /// Runs that are over, as far as the daemon has posted it. Of a rank that is being made, none.
  /// Every run that was submitted is over, and the host has been told.
  bool isAllOver() const {
    if (queues_->inStreams().isAnyUnderWay()) return false;
    return queues_->waiting() == 0 && memory_->submissions.header->tail.load(order::seqCst) == runsPosted();
  }
  /// As DeviceWaits has it, on this rank's device.
  bool tryWhileNobodyWaits(const std::function<void()>& call) { return waits_->tryWhileNobodyWaits(call); }
  uint64_t runsPosted() const { return isOpen_.load(order::seqCst) == 0 ? 0 : posted_.rank->completionsPosted.read(); }
  /// The last moments of every block, and behind them those of the leader's polling warp. While a daemon is resident, a
  /// ring's count is that of its last stay.
  std::vector<TraceRing> readTraces();
  /// Of every block, what is left in its queue: for a report when something is stuck.
  std::vector<uint32_t> readSavedLengths();
  /// What it does, and what it waits for, from memory of the host's alone: for a report when something is stuck.
  std::string describe() const;

 private:
  class EnteredStream;

  void keep();
  Start launch(uint32_t generation);
  bool isThere() const;
  void letLoadsPass();
  void loadKernels();
  bool needsStart() const;
  bool isOver() const { return isOpen_.load(order::seqCst) == 0 || isLost() || stopping_.load(order::seqCst) != 0; }
  void lookForFaults();
  void waitOnHost(uint32_t index, uint64_t runs, const char* why);

  const uint32_t number_;
  const GpuRankOptions options_;
  const std::shared_ptr<DeviceWaits> waits_;
  const DeviceWaits::RankEntry place_;
  DeviceArena arena_;
  HeldMembers held_;
  PinnedMemory pinned_;
  ControlRing& control_;
  RankRequests requests_;
  RankStreams streams_;
  std::unique_ptr<RankMemory> memory_;
  RankMemory* deviceMemory_ = nullptr;
  LaunchArguments arguments_{};
  KnownWindows* knownWindows_ = nullptr;
  StayReport* report_ = nullptr;
  PostedCounters posted_{};
  IndexTable places_;
  Bell& bell_;
  std::unique_ptr<RankQueues> queues_;
  cudaStream_t stream_ = nullptr;
  cudaEvent_t probe_ = nullptr;
  std::mutex launching_;
  Atomic<uint64_t> launches_;
  Atomic<uint64_t> launched_;    // the last launch that CUDA has accepted
  Atomic<uint32_t> generation_;  // of the table that the daemon launched last stays for
  std::mutex losing_;
  std::string lostBecause_;  // written before isLost_
  Atomic<uint32_t> isLost_;
  Atomic<uint32_t> stopping_;
  Atomic<uint32_t> isOpen_;
  std::thread keeper_;
};

}  // namespace dfccl::gpu

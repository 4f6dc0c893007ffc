#pragma once
// Streams of this process that wait on a device, whichever rank's runs they wait for, and the daemons that have to be
// there meanwhile: those of all ranks that the process has on the device. For while a stream waits, nothing may be
// launched any more (decision 23).
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <vector>

#include "daemon/state/waiting_streams.hpp"
#include "host/driver/hardware_queues.hpp"
#include "host/driver/memory.hpp"
#include "host/rank/barrier_probe.hpp"
#include "host/rank/distinct_streams.hpp"
#include "host/rank/doubt.hpp"
#include "host/rank/wait_notes.hpp"
#include "host/rank/waiting_room.hpp"

namespace dfccl::gpu {

class GpuRank;

class DeviceWaits {
 public:
  /// The one of a device, which lasts as long as the process. @throws Error
  static std::shared_ptr<DeviceWaits> of(int device);

  explicit DeviceWaits(int device);
  DeviceWaits(const DeviceWaits&) = delete;
  DeviceWaits& operator=(const DeviceWaits&) = delete;

  /// A rank's place in the tables, which is free again when this goes: also where the rank can't be made.
  class RankEntry {
   public:
    /// @throws Error
    explicit RankEntry(DeviceWaits& waits) : waits_(waits), number_(waits.takePlace()) {}
    ~RankEntry() { waits_.giveBack(number_); }
    RankEntry(const RankEntry&) = delete;
    RankEntry& operator=(const RankEntry&) = delete;

    /// Or kNoPlace: streams can't wait for the rank's runs.
    uint32_t number() const { return number_; }

   private:
    DeviceWaits& waits_;
    const uint32_t number_;
  };

  /// The rank is there, whole, and streams' waits look at it until it leaves.
  void enter(GpuRank& rank);
  void leave(GpuRank& rank);

  /// Why a wait has to be the host's here; nullptr: streams may wait.
  const char* obstacle() const;
  /// Gives a stream a wait that lasts until so many runs are over, with the daemons there that stay for it. May launch
  /// them. @param stream which one. @param isFree the stream doesn't synchronize with the default one, so that giving
  /// it something waits for nobody. @param give does it, and may throw; with a note, so that the wait can be taken
  /// back.
  /// @return false: the stream has no wait, as too many that could be taken back are on their way.
  bool letWait(uint32_t place, uint32_t index, uint32_t target, cudaStream_t stream, bool isFree,
               const std::function<void(WaitNote*)>& give);
  /// Launches runs that are kernels in a stream: not while such a call as below is made, which would wait for them.
  template <class Launch>
  void launch(const Launch& call) {
    const std::shared_lock lock(mutex_);
    call();
  }
  /// Runs that may wait on the device beside the daemons of this process's ranks, and others' kernels.
  uint32_t roomForRuns() const;
  /// For a kernel that is to be launched so. @return as WaitingRoom::take()
  std::shared_ptr<const WaitingRoom::Part> takeRoom(const WaitingRoom::Wish& wish) {
    return wish.wanted == 1 ? nullptr : room_.take(wish, roomBesideQueues());
  }
  /// Makes a call that keeps the driver to itself until the device is idle, as freeing and unmapping do: while no run
  /// is under way, so no stream waits for any, and none is given a wait meanwhile. Else whoever launches a daemon, or
  /// hands over what others wait for, might wait for the driver, and the driver for him. @return false: not now.
  bool tryWhileNobodyWaits(const std::function<void()>& call);
  /// A daemon was launched, of whichever rank on the device.
  void noteLaunch() { stays_.fetchAdd(1, order::seqCst); }

  /// A thread is in a call of the library's that is about streams. Between two calls that follow at once it can't have
  /// launched a kernel for the first time, so what it knew of the daemons holds.
  class Call {
   public:
    explicit Call(DeviceWaits& waits);
    ~Call();
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

   private:
    const DeviceWaits& waits_;
  };

  /// A place's counts of runs that are over, in the device's memory: [AwaitedRuns::kMost].
  Atomic<uint32_t, Scope::device>* completedOf(uint32_t place) const { return ranks_[place].completed; }
  const DeviceAwaited* awaited() const { return &awaited_; }
  const AwaitedRuns* ranks() const { return ranks_; }
  /// Counts up where successors of the daemons are launched: those stay for what is awaited from then on, too.
  uint32_t generation() const { return generation_.load(order::seqCst); }
  /// What a stream waits for at most. Whoever lets streams go asks.
  uint32_t awaitedOf(uint32_t place, uint32_t index) const {
    return awaited_.awaited[table()][place][index].load(order::seqCst);
  }

  static constexpr uint32_t kNoPlace = 0xffffffff;

 private:
  uint32_t takePlace();
  uint32_t claimPlace();
  void giveBack(uint32_t place);
  enum class Daemons { out, leaving, inside };
  enum class Answer { goesOn, others, unknown };
  /// What a thread knows of the daemons.
  struct Known {
    uint64_t stays = ~uint64_t{0};  // it relied on them when so many had been launched
    uint64_t leftAt = 0;            // when it last left a call, in ticks
  };
  Known& known() const;
  Daemons worst() const;
  void begin();
  void end() { awaited_.intents.fetchSub(1, order::seqCst); }
  bool areStill(uint64_t stays) const;
  Answer askBeside(uint64_t stays, bool areOwn, Doubt& doubt);
  bool mayLaunchSuccessors() const;
  bool launchSuccessors();
  uint32_t table() const { return generation() % DeviceAwaited::kTables; }
  uint64_t runsOver() const;
  uint32_t roomBesideQueues() const;
  uint32_t blocksOfDaemons() const;
  uint64_t mostDoubt() const;
  bool letBlockingWait(uint32_t place, uint32_t index, uint32_t target, const std::function<void(WaitNote*)>& give);
  bool awaitBesideDaemons(uint32_t place, uint32_t index, uint32_t target);
  void await(uint32_t place, uint32_t index, uint32_t target);

  const int device_;
  PinnedMemory pinned_;
  DeviceAwaited& awaited_;
  AwaitedRuns* ranks_ = nullptr;  // [DeviceAwaited::kMostRanks]
  uint32_t multiprocessors_ = 0;
  const uint32_t queues_ = hardwareQueues();
  WaitingRoom room_;
  BarrierProbe probe_;
  WaitNotes notes_;
  DistinctStreams streams_;          // that were given a wait
  Atomic<uint64_t> stays_;           // daemons launched so far
  Atomic<uint32_t> isUnanswered_;    // nobody knew what the last question asked, nor could do anything about it
  Atomic<uint32_t> generation_;      // of the table that the daemons launched last stay for
  Atomic<uint32_t> isSucceeding_;    // a thread launches successors
  std::mutex awaiting_;              // of what is awaited; never held across a call of CUDA's
  mutable std::shared_mutex mutex_;  // of the list; only opening and closing ranks waits for those who launch
  std::vector<GpuRank*> present_;
  std::array<bool, DeviceAwaited::kMostRanks> isTaken_{};  // places, of ranks that are there or are made
};

}  // namespace dfccl::gpu

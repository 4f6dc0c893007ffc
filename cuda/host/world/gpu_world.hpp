#pragma once
// All ranks of one process on its GPUs: one rank a device, or several where there are more ranks than devices.
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "host/driver/device_copies.hpp"
#include "host/member/gpu_registration.hpp"
#include "host/rank/completion_watcher.hpp"
#include "host/rank/gpu_rank.hpp"
#include "network/network.hpp"
#include "processes/segment.hpp"
#include "world/backend.hpp"
#include "world/defaults.hpp"
#include "world/membership.hpp"

namespace dfccl::gpu {

struct GpuWorldOptions {
  static constexpr int kElsewhere = -1;
  std::vector<int> devices;  // of each rank; kElsewhere: it is another process's
  GpuRankOptions rank;
  TileSizes tiles = defaultOptions(BackendKind::cuda).tiles;
  std::shared_ptr<Segment> segment;  // where some ranks are other processes
  std::shared_ptr<Network> network;  // where some of them are on other machines
  uint32_t muteMillis = 10'000;
};

/// The backend of GPUs.
class GpuWorld : public Backend {
 public:
  /// @throws Error
  explicit GpuWorld(const GpuWorldOptions& options);
  ~GpuWorld() override;

  GpuRank& rank(uint32_t number) { return *ranks_[number]; }
  RankMemory& memory(uint32_t rank) override { return ranks_[rank]->memory(); }
  int deviceOf(uint32_t rank) const override { return ranks_[rank]->device(); }

  uint32_t registerCollective(uint32_t rank, const CollectiveSpec& spec) override {
    return registerCollective(rank, spec, 0);
  }
  /// @param lanes blocks of the built-in program, the same on every rank; 0: chosen by size.
  uint32_t registerCollective(uint32_t rank, const CollectiveSpec& spec, uint32_t lanes);
  void unregisterCollective(uint32_t rank, uint32_t index, uint64_t issuedRuns,
                            Departure departure = Departure::forGood) override;
  uint64_t runsBefore(uint32_t rank, uint32_t index) override;
  void abortCollective(uint32_t rank, uint32_t index) override;
  void letEnd(uint32_t rank, uint32_t index) override;
  bool isAborted(uint32_t rank, uint32_t index) override;
  bool isQuarantineOver(uint32_t rank, uint32_t index) override;
  CollectiveSpec specOf(uint32_t rank, uint32_t index) override;
  RunShape shapeOf(uint32_t rank, uint32_t index) override;
  std::vector<MemberProgress> explain(uint32_t rank, uint32_t index) override;

  RunMemory checkMemory(uint32_t rank, const CollectiveSpec& spec, const RunShape& shape, const void* send,
                        const void* recv) override;
  void* allocate(uint32_t rank, size_t bytes) override;
  void free(uint32_t rank, void* memory, size_t bytes) override;
  void copyIn(uint32_t rank, void* to, const void* from, size_t bytes) override;
  void copyOut(uint32_t rank, void* to, const void* from, size_t bytes) override;

  std::unique_ptr<EnteredStream> enterStream(uint32_t rank, void* stream) override {
    return ranks_[rank]->enterStream(static_cast<cudaStream_t>(stream));
  }
  void waitOnStream(uint32_t rank, uint32_t index, void* stream, uint64_t runs) override {
    checkHealth(rank);
    ranks_[rank]->waitOnStream(index, static_cast<cudaStream_t>(stream), runs);
  }

  std::optional<uint64_t> captureOf(uint32_t rank, void* stream) override {
    return ranks_[rank]->captureOf(static_cast<cudaStream_t>(stream));
  }
  uint64_t endedInGraphs(uint32_t rank) override;
  void readyCapture(uint32_t rank) override;
  bool isCaptureAwaited(uint32_t rank, uint32_t index) override;
  CapturedPlace captureRun(uint32_t rank, uint32_t index, const void* send, void* recv, void* stream) override;
  void letGraphWait(uint32_t rank, const CapturedPlace& place, void* stream) override;

  std::unique_ptr<Backend::Launches> beginLaunches() override;
  RunWindows windowsOf(uint32_t rank, const RunShape& shape, const void* send, const void* recv) override;
  /// Of all arenas together, no more than half of each.
  uint64_t mostMessageBytes(uint32_t rank, uint32_t receiver) const override {
    return gpuOptions_.rank.arenaBytes / 2 / (rank == receiver ? 1 : size() - 1);
  }
  uint64_t idOfStream(uint32_t rank, void* stream) override {
    return ranks_[rank]->idOfStream(static_cast<cudaStream_t>(stream));
  }
  void waitForLaunched(uint32_t rank, uint32_t index, const PlaceInStream& place, void* stream) override;

  bool drive(bool) override { return false; }
  bool driveRank(uint32_t) override { return false; }
  uint32_t activeRanks() const override { return 0; }
  void stop() override;
  void checkHealth(uint32_t rank) override;
  bool isLost(uint32_t rank) override { return ranks_[rank]->isLost(); }
  std::string describe(uint32_t rank) override { return ranks_[rank]->describe(); }
  void leave(uint32_t rank) override { ranks_[rank]->leave(); }
  void reopen(uint32_t) override {}
  bool synchronize(uint32_t rank, uint64_t timeoutMicros) override;

  void setWaker(std::function<void(uint32_t rank)> waker) override { watcher_.setWaker(std::move(waker)); }
  void deliverInBackground(uint32_t rank) override { watcher_.deliverInBackground(rank); }

  CounterReading readCounters(uint32_t rank) override;
  std::vector<TraceTrack> readTrace(uint32_t rank) override;
  size_t arenaUsedBytes() const override;
  size_t memoryBytesOf(uint32_t rank, uint32_t index) override;
  uint64_t freeMemoryBytes(uint32_t rank) const override;

 protected:
  /// A collective on one rank.
  struct Registered {
    std::shared_ptr<DeviceRegistration> registration;
    ArenaBlocks tables;  // the program's, on the device
    CollectiveSpec spec;
    uint32_t member;
    RunShape shape;
    IndexTable::Entry place;
    bool isDropped = false;  // its daemon was told to give it up
    static constexpr uint64_t kUnchecked = ~uint64_t{0};
    uint64_t finishedAtCheck = kUnchecked;  // where ranks are gone: runs that it had finished at the last look
  };

  void wake() override { bell_.wake(); }
  Registered& registered(uint32_t rank, uint32_t index);
  std::unordered_map<uint32_t, Registered>& registeredOn(uint32_t rank) { return table_[rank]; }
  void askToDrop(uint32_t rank, uint32_t index);
  void noteAllocated(uint32_t rank, void* memory);
  /// Memory of allocate()'s is about to be freed. @throws Error dfcclInvalidArgument
  void forgetAllocated(uint32_t rank, void* memory);
  /// Frees it soon.
  void freeLater(uint32_t rank, void* memory);

  // What differs where ranks are processes. All are called under mutex().
  /// Puts a rank into the registration that it belongs to; into a new one, if need be.
  /// @throws Error dfcclAlreadyRegistered, dfcclRegistrationMismatch
  void takeCapturedNotes(uint32_t rank, std::unique_lock<std::mutex>& lock);
  virtual std::shared_ptr<DeviceRegistration> enter(const CollectiveSpec& spec, uint32_t member, uint64_t digest,
                                                    std::unique_ptr<GpuMember> own);
  /// Puts a rank back into a registration that it had left for now. @return null: there is none.
  virtual std::shared_ptr<DeviceRegistration> comeBack(const CollectiveSpec& spec, uint32_t member,
                                                       const CollectiveRecord& begun, const MemberHome& home);
  /// Where ranks are processes, depart() is called with it. @throws Error dfcclTimeout
  virtual std::unique_ptr<Segment::Lock> lockSegment() { return nullptr; }
  virtual void depart(uint32_t rank, Registered& entry, Departure departure, uint64_t finishedRuns);
  virtual void poison(uint32_t rank, Registered& entry);
  /// Whether some of the ranks are on other machines than others.
  bool spansMachines(const CollectiveSpec& spec) const;
  /// For a member of a collective that does. @throws Error dfcclOutOfMemory
  virtual std::unique_ptr<RemoteConnectors> remoteConnectorsOf(const CollectiveSpec&) { return nullptr; }
  std::mutex& mutex() const { return mutex_; }
  Bell& bell() { return bell_; }

 private:
  class Launches;

  /// What a run of a collective needs that is a kernel in its stream.
  struct Launched {
    std::shared_ptr<CapturedMember> member;
    RunShape shape;
  };
  Launched launched(uint32_t rank, uint32_t index);
  /// The rank is lost, and the others are not to wait for it.
  void giveUpRunsOf(uint32_t rank);
  const BoundProgram* upload(ArenaBlocks& blocks, const BoundProgram& program);
  std::vector<uint8_t> builtInProgram(const CollectiveSpec& spec, uint32_t member, uint32_t lanes) const;
  bool isStaged(const CollectiveSpec& spec) const;
  std::vector<uint32_t> machinesOf(const CollectiveSpec& spec) const;
  static std::vector<uint8_t> stagedProgram(const CollectiveSpec& spec, uint32_t member);
  std::shared_ptr<GpuRegistration> registrationFor(const CollectiveSpec& spec, uint32_t member, uint64_t digest);
  uint32_t tasksPerBlock(uint32_t blockCount) const;
  void freeAllocated();

  const GpuWorldOptions gpuOptions_;
  const bool namesWindows_;  // some ranks are other processes
  Bell bell_;
  std::vector<std::unique_ptr<GpuRank>> ranks_;
  std::vector<std::unique_ptr<DeviceCopies>> copies_;  // [rank]
  std::map<void*, uint32_t> allocated_;                // rank of what allocate() gave
  std::mutex allocatedMutex_;
  std::vector<uint32_t> tasksPerBlock_;  // [rank]: at most, in one block's queue
  Membership<GpuRegistration> registrations_;
  std::vector<std::unordered_map<uint32_t, Registered>> table_;  // [rank], by index
  mutable std::mutex mutex_;                                     // of registration
  CompletionWatcher watcher_;                                    // last: its thread uses the ranks
};

}  // namespace dfccl::gpu

#pragma once
// All ranks of one process: registration, the threads that step their daemons, device synchronization, and the
// watchdog.
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "program/program_loader.hpp"
#include "world/collective_group.hpp"
#include "world/rank.hpp"
#include "world/run_check.hpp"
#include "world/task_table.hpp"
#include "world/wait_graph.hpp"
#include "world/worker_pool.hpp"

namespace dfccl {

struct WorldOptions {
  uint32_t ranks = 1;
  RankLimits limits;
  scheduling::SchedulePolicy policy;  // times in nanoseconds; converted to the platform's ticks
  TileSizes tiles;
  size_t arenaBytes = size_t{1} << 30;
  uint32_t workers = 1;  // threads that step; 0: only callers who wait or drive
};

/// The policy that a world has unless it is told otherwise.
scheduling::SchedulePolicy defaultPolicy();
/// NCCL's behaviour: `streams` collectives at once, in the order of submission, none preempted, no voluntary quit.
scheduling::SchedulePolicy inOrderPolicy(uint32_t streams);

class World {
 public:
  /// @throws Error dfcclInvalidArgument, dfcclOutOfMemory, dfcclSystemError.
  explicit World(const WorldOptions& options);
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  const WorldOptions& options() const { return options_; }
  uint32_t size() const { return static_cast<uint32_t>(ranks_.size()); }
  Rank& rank(uint32_t number) { return *ranks_[number]; }

  /// Registers a collective on one rank; never waits for the others. @return its index, which submissions name.
  /// @throws Error
  uint32_t registerCollective(uint32_t rank, const CollectiveSpec& spec);
  /// @param issuedRuns runs that this rank has submitted of it: all must have completed.
  /// @throws Error dfcclInUse, dfcclUnknownCollective
  void unregisterCollective(uint32_t rank, uint32_t index, uint64_t issuedRuns);
  /// Gives an id up on all ranks, at once and without waiting: runs in flight complete as aborted, later ones too,
  /// until it is registered again. @throws Error dfcclUnknownCollective
  void abortCollective(uint32_t rank, uint32_t index);
  /// Whether no rank touches the buffers of an aborted id any more: only now may they be freed.
  bool isQuarantineOver(uint32_t rank, uint32_t index);

  bool isAborted(uint32_t rank, uint32_t index);
  /// NCCL's behaviour, the control: collectives in the order of submission, none preempted.
  bool isInOrder() const { return options_.policy.streams != 0; }

  bool isRegistered(uint32_t rank, uint32_t index) const;
  CollectiveSpec specOf(uint32_t rank, uint32_t index);
  /// What the buffers of its runs must look like: see checkRun().
  RunShape shapeOf(uint32_t rank, uint32_t index);

  /// Ranks below this number have registered something at some time; the others have nothing to step for.
  uint32_t activeRanks() const { return activeRanks_.load(order::acquire); }
  /// Steps every rank once. @return whether anything moved.
  bool drive(bool stepsIdle = true) { return pool_.help(stepsIdle); }
  /// Steps one rank only: for a process that has a thread for each rank.
  bool driveRank(uint32_t rank) { return pool_.helpRank(rank); }
  /// After a submission: wakes the threads that step, if they sleep.
  void ring() { pool_.ring(); }
  /// How many of them sleep: whoever submits without a call rings only then.
  Atomic<uint32_t>& sleepers() { return pool_.sleepers(); }
  /// Stops the threads that step, for good. Nothing is written to anybody's buffers afterwards unless a caller steps.
  void stop() { pool_.stop(); }

  /// Number of the stay that a device synchronization beginning now has to wait for; 0: no daemon is there.
  uint64_t residentStay(uint32_t rank);
  bool isStayOver(uint32_t rank, uint64_t stay);
  /// Blocks until the daemon that is resident now has left, as a synchronization of a GPU does. The caller steps
  /// meanwhile.
  /// @param timeoutMicros 0: none. @return false: timed out, or deadlocked in order.
  bool synchronize(uint32_t rank, uint64_t timeoutMicros);
  void noteSynchronizing(uint32_t rank, int delta) {
    synchronizing_[rank].fetchAdd(static_cast<uint32_t>(delta), order::acqRel);
  }

  /// Which members of a collective have not registered it, and how many runs each has submitted.
  struct MemberProgress {
    uint32_t rank;
    bool registered;
    uint64_t submitted;
    uint64_t finished;
  };
  std::vector<MemberProgress> explain(uint32_t rank, uint32_t index);

  /// In-order worlds: looks for a deadlock if nothing has moved since the last look. Threads that step call it before
  /// they sleep; so does a caller who has waited for long.
  void watch();
  /// In-order worlds: the deadlock that the watchdog found, or nothing.
  std::unique_ptr<DeadlockReport> deadlock();

  /// Called from a stepping thread, outside every lock, when a completion was posted for a rank that sleeps.
  void setWaker(std::function<void(uint32_t rank)> waker);
  /// Ranks whose callbacks the worker threads run.
  void deliverInBackground(uint32_t rank) { backgroundDelivery_[rank].store(1, order::release); }

  size_t arenaUsedBytes() const;
  size_t memoryBytesOf(uint32_t rank, uint32_t index);

 private:
  friend class WorkerPool;

  struct Registered {
    std::shared_ptr<CollectiveGroup> group;
    std::shared_ptr<const BoundProgram> program;
    CollectiveSpec spec;
    uint32_t member = 0;
  };

  std::shared_ptr<const BoundProgram> bind(const CollectiveSpec& spec, uint32_t member, uint64_t& digest);
  std::shared_ptr<CollectiveGroup> groupFor(const CollectiveSpec& spec, uint32_t member, uint64_t digest);
  Registered& registered(uint32_t rank, uint32_t index);
  void dropGroup(const CollectiveGroup& group);
  bool hasUnseenWork() const;
  void afterStep();
  uint64_t progressStamp();

  WorldOptions options_;
  Arena arena_;
  ConnectorPool connectors_;
  std::vector<std::unique_ptr<Rank>> ranks_;
  std::vector<TaskTable> taskTables_;
  std::vector<std::vector<Registered>> table_;  // [rank][index]
  std::vector<std::vector<uint32_t>> freeIndices_;
  std::unordered_multimap<uint32_t, std::shared_ptr<CollectiveGroup>> groups_;
  std::unordered_map<std::string, std::weak_ptr<const BoundProgram>> programs_;
  Atomic<uint32_t> activeRanks_;
  mutable std::mutex mutex_;  // of registration; never taken by a stepping thread inside a step
  std::vector<Atomic<uint32_t>> synchronizing_;
  std::vector<Atomic<uint32_t>> backgroundDelivery_;
  std::mutex wakerMutex_;
  std::function<void(uint32_t)> waker_;
  std::mutex deadlockMutex_;
  std::unique_ptr<DeadlockReport> deadlock_;  // kept: in order, nothing ever ends it
  uint64_t lastStamp_ = 0;
  WorkerPool pool_;  // last: its threads use everything above
};

}  // namespace dfccl

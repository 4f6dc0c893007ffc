#pragma once
// The ranks of one process, which are all of the world's or one of them: registration, the threads that step their
// daemons, device synchronization, and the watchdog.
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "processes/peer_watch.hpp"
#include "processes/shared_group.hpp"
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
  // Where the ranks are processes: this one has the segment's rank, and the others meet it there.
  std::shared_ptr<Segment> segment;
  uint32_t muteMillis = 10'000;  // another process without a sign of life for so long is given up
};

/// @throws Error dfcclInvalidArgument naming the field, its value and what is allowed.
void checkOptions(const WorldOptions& options);

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
  uint32_t size() const { return options_.ranks; }
  bool isLocal(uint32_t number) const { return number < size() && ranks_[number] != nullptr; }
  /// @pre isLocal(number)
  Rank& rank(uint32_t number) { return *ranks_[number]; }
  /// This process's ranks, by position.
  Rank& local(uint32_t position) { return *locals_[position]; }
  /// The memory that the processes share, or null.
  Segment* segment() { return options_.segment.get(); }

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

  /// Local ranks below this position have registered something at some time; the others have nothing to step for.
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
  void stop();

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

  /// Ranks of other processes that are gone, and what became of them. They won't come back.
  struct LostRank {
    uint32_t rank;
    Presence presence;
  };
  std::vector<LostRank> lostRanks();
  /// Another process has come to an end, or aborted something: gives up what can't complete any more. The watch calls
  /// it now and then.
  void checkPeers();

  /// Called from a stepping thread, outside every lock, when a completion was posted for a rank that sleeps.
  void setWaker(std::function<void(uint32_t rank)> waker);
  /// Ranks whose callbacks the worker threads run.
  void deliverInBackground(uint32_t rank) { backgroundDelivery_[rank].store(1, order::release); }

  size_t arenaUsedBytes() const;
  size_t memoryBytesOf(uint32_t rank, uint32_t index);

 private:
  friend class WorkerPool;

  struct Registered {
    std::shared_ptr<Group> group;
    std::shared_ptr<const BoundProgram> program;
    CollectiveSpec spec;
    uint32_t member = 0;
    bool isDropped = false;  // its daemon was told to give it up, because of another process
  };

  std::shared_ptr<const BoundProgram> bind(const CollectiveSpec& spec, uint32_t member,
                                           const std::vector<uint8_t>& bytes, uint64_t& digest);
  std::shared_ptr<Group> groupFor(const CollectiveSpec& spec, uint32_t member, uint64_t digest);
  Registered& registered(uint32_t rank, uint32_t index);
  void dropGroup(Group& group);
  /// Of a member of any process.
  CollectiveRecord& recordOf(const Group& group, uint32_t member);
  std::unique_ptr<Segment::Lock> lockSegment();
  void noteWaiting();
  void tellDaemon(uint32_t rank, uint32_t index);
  bool isLetGo(Group& group);
  bool hasUnseenWork() const;
  bool hasUnfinishedWork() const;
  void afterStep(bool hasMoved);
  uint64_t progressStamp();

  WorldOptions options_;
  Arena arena_;
  ConnectorPool connectors_;
  std::vector<std::unique_ptr<Rank>> ranks_;  // null: another process's
  std::vector<Rank*> locals_;
  std::vector<TaskTable> taskTables_;
  std::vector<std::vector<Registered>> table_;  // [rank][index]
  std::vector<std::vector<uint32_t>> freeIndices_;
  std::unordered_multimap<uint32_t, std::shared_ptr<Group>> groups_;
  std::optional<SharedDirectory> directory_;  // in place of it, where ranks are processes
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
  WorkerPool pool_;  // late: its threads use everything above
  std::optional<PeerWatch> watch_;
};

}  // namespace dfccl

#pragma once
// The ranks of one process, which are all of the world's or one of them: registration, the threads that step their
// daemons, device synchronization, and the watchdog.
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "cpu/cpu_rank.hpp"
#include "cpu/local_registration.hpp"
#include "cpu/worker_pool.hpp"
#include "network/proxy.hpp"
#include "processes/agreement.hpp"
#include "processes/peer_watch.hpp"
#include "processes/shared_directory.hpp"
#include "world/backend.hpp"
#include "world/membership.hpp"
#include "world/program_cache.hpp"
#include "world/ring_programs.hpp"
#include "world/task_table.hpp"

namespace dfccl {

/// The backend of a CPU.
class CpuWorld : public Backend {
 public:
  /// @throws Error dfcclInvalidArgument, dfcclOutOfMemory, dfcclSystemError.
  explicit CpuWorld(const WorldOptions& options);
  ~CpuWorld() override;
  CpuWorld(const CpuWorld&) = delete;
  CpuWorld& operator=(const CpuWorld&) = delete;

  /// @pre isLocal(number)
  CpuRank& rank(uint32_t number) { return *ranks_[number]; }
  RankMemory& memory(uint32_t rank) override { return ranks_[rank]->memory(); }
  /// This process's ranks, by position.
  CpuRank& local(uint32_t position) { return *locals_[position]; }
  /// The memory that the processes share, or null.
  Segment* segment() { return options_.segment.get(); }
  uint32_t processes() const override;

  uint32_t registerCollective(uint32_t rank, const CollectiveSpec& spec) override;
  void unregisterCollective(uint32_t rank, uint32_t index, uint64_t issuedRuns,
                            Departure departure = Departure::forGood) override;
  void abortCollective(uint32_t rank, uint32_t index) override;
  bool isAborted(uint32_t rank, uint32_t index) override;
  std::string whyAborted(uint32_t rank, uint32_t index) override;
  bool isQuarantineOver(uint32_t rank, uint32_t index) override;
  bool isRegistered(uint32_t rank, uint32_t index) const;
  CollectiveSpec specOf(uint32_t rank, uint32_t index) override;
  RunShape shapeOf(uint32_t rank, uint32_t index) override;
  std::vector<MemberProgress> explain(uint32_t rank, uint32_t index) override;
  std::vector<OtherCall> otherCalls(uint32_t rank, uint32_t index) override;
  std::vector<uint64_t> mismatchedCounts(uint32_t rank, uint32_t index) override;

  void* allocate(uint32_t rank, size_t bytes) override;
  void free(uint32_t rank, void* memory, size_t bytes) override;

  uint32_t activeRanks() const override { return activeRanks_.load(order::acquire); }
  uint32_t activeRankAt(uint32_t position) const override { return locals_[position]->number(); }
  /// Steps every rank once. @return whether anything moved.
  bool drive(bool stepsIdle = true) override { return pool_.help(stepsIdle); }
  /// Steps one rank only: for a process that has a thread for each rank.
  bool driveRank(uint32_t rank) override { return pool_.helpRank(rank); }
  void stop() override;
  void leave(uint32_t rank) override;
  void reopen(uint32_t rank) override { ranks_[rank]->reopen(); }

  bool synchronize(uint32_t rank, uint64_t timeoutMicros) override;
  void noteSynchronizing(uint32_t rank, int delta) override {
    synchronizing_[rank].fetchAdd(static_cast<uint32_t>(delta), order::acqRel);
  }

  /// In-order worlds: looks for a deadlock if nothing has moved since the last look. Threads that step call it before
  /// they sleep; so does a caller who has waited for long.
  void watch() override;
  /// In-order worlds: the deadlock that the watchdog found, or nothing.
  std::unique_ptr<DeadlockReport> deadlock() override;

  std::vector<LostRank> lostRanks() override;
  std::vector<LostRank> lostFor(uint32_t rank, uint32_t index) override;
  std::optional<std::vector<uint32_t>> agreeOnSurvivors() override;
  std::vector<uint32_t> awaitedByAgreement() override;
  /// Another process has come to an end, or aborted something: gives up what can't complete any more. The watch calls
  /// it now and then. @return false where it would have to wait for another thread: it is to be called again.
  bool checkPeers();

  void setWaker(std::function<void(uint32_t rank)> waker) override;
  void deliverInBackground(uint32_t rank) override { backgroundDelivery_[rank].store(1, order::release); }
  void lookInBackground(std::function<bool()> look) override;

  CounterReading readCounters(uint32_t rank) override;
  uint64_t runsBefore(uint32_t rank, uint32_t index) override;
  size_t arenaUsedBytes() const override;
  size_t memoryBytesOf(uint32_t rank, uint32_t index) override;
  size_t remoteBytesOf(uint32_t rank) override;

 protected:
  void wake() override { pool_.wake(); }

 private:
  friend class WorkerPool;

  struct Registered {
    std::shared_ptr<JointRegistration> registration;
    std::shared_ptr<const BoundProgram> program;
    CollectiveSpec spec;
    uint32_t member = 0;
    std::unique_ptr<const OwnedRingPlan> rings;
    bool isDropped = false;  // its daemon was told to give it up
  };

  std::shared_ptr<const BoundProgram> bind(const CollectiveSpec& spec, uint32_t member,
                                           const std::vector<uint8_t>& bytes, uint64_t& digest);
  std::shared_ptr<JointRegistration> registrationFor(const CollectiveSpec& spec, uint32_t member, uint64_t digest,
                                                     bool spansHosts);
  Presence presenceOf(uint32_t rank);
  Registered& registered(uint32_t rank, uint32_t index);
  void undoJoin(SharedRegistration& registration, uint32_t member);
  void dropRegistration(JointRegistration& registration);
  /// Of a member of any process.
  CollectiveRecord& recordOf(const JointRegistration& registration, uint32_t member);
  uint64_t runsOf(const JointRegistration& registration, uint32_t member);
  std::unique_ptr<Segment::Lock> lockSegment();
  void noteWaiting();
  void tellDaemon(uint32_t rank, uint32_t index);
  void awaitDrop(uint32_t rank, const Registered& entry, const CollectiveRecord& record);
  bool isLetGo(JointRegistration& registration);
  bool hasLetGo(const JointRegistration& registration, uint32_t member) const;
  bool hasUnseenWork() const;
  bool hasUnfinishedWork() const;
  /// @return whether there is still something to look for.
  bool look() const { return mayLook_.load(order::acquire) != 0 && look_(); }
  void afterStep(bool hasMoved);
  void flushAll();
  uint64_t progressStamp();

  Arena arena_;
  ConnectorPool connectors_;
  std::vector<std::unique_ptr<CpuRank>> ranks_;  // null: another process's
  std::vector<CpuRank*> locals_;
  std::vector<TaskTable> taskTables_;
  // [rank][index]: as long as what was ever registered at once; entries stay where they are.
  std::vector<std::deque<Registered>> table_;
  std::vector<std::vector<uint32_t>> freeIndices_;
  Membership<JointRegistration> registrations_;  // where all ranks are this process's
  std::optional<Agreement> agreement_;           // where ranks are processes
  std::optional<SharedDirectory> directory_;     // in place of it, where ranks are processes
  ProgramCache programs_;
  Atomic<uint32_t> activeRanks_;
  mutable std::mutex mutex_;  // of registration; never taken by a stepping thread inside a step
  std::vector<Atomic<uint32_t>> synchronizing_;
  std::vector<Atomic<uint32_t>> backgroundDelivery_;
  std::mutex wakerMutex_;
  std::function<void(uint32_t)> waker_;
  std::function<bool()> look_;
  Atomic<uint32_t> mayLook_;  // look_ is there
  std::mutex deadlockMutex_;
  std::unique_ptr<DeadlockReport> deadlock_;  // kept: in order, nothing ever ends it
  uint64_t lastStamp_ = 0;
  WorkerPool pool_;  // late: its threads use everything above
  std::optional<Proxy> proxy_;
  std::optional<PeerWatch> watch_;
};

}  // namespace dfccl

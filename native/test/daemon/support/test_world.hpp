#pragma once
// Several ranks and their daemons under any set of rules, with no thread of its own: the test decides who takes the
// next step. What World does for an application, in the few lines that these tests need, with the mistakes that a host
// could make as switches.
#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <vector>

#include "cpu/collective_group.hpp"
#include "cpu/cpu_rank_memory.hpp"
#include "daemon/loop/rank_daemon.hpp"
#include "pending_tables.hpp"
#include "program/program_loader.hpp"
#include "test_platform.hpp"
#include "waiting_tables.hpp"
#include "world/builtin_programs.hpp"
#include "world/collective_record.hpp"
#include "world/large_programs.hpp"
#include "world/task_table.hpp"

namespace dfccl::test {

/// Rules of the host that a control takes out.
struct HostMistakes {
  enum class Slot { owned, byCollective, byPosition };
  Slot completionSlot = Slot::owned;    // else: not a free one, but the one that an id or a queue position names
  bool reusesCountersAnew = false;      // connector memory begins at 0 with each owner, its slots as they were
  bool lendsConnectorsEarly = false;    // the first rank that leaves gives its connectors to the next collective
  bool reRegistersIntoAborted = false;  // an id that is registered again is the same group as before
  bool ignoresDisagreement = false;     // no look at what the other ranks registered
  bool forgetsControl = false;          // an entry doesn't say that something was asked before it
  bool unregistersInUse = false;        // ... although runs are in flight
  bool waitsWithoutLooking = false;     // a stream gets its wait wherever the daemons are
  bool looksAfterItsRankOnly = false;   // ... or where other ranks of its device are
  bool startsWhileItKeeps = false;      // ... and starts those that are out while the others must stay
};

struct WorldShape {
  uint32_t ranks = 2;
  RankLimits limits{1, 8, 16, 16, 64};
  scheduling::SchedulePolicy policy{};
  TileSizes tiles{16, 16};
  HostMistakes mistakes{};
  uint64_t firstPosition = 0;  // of connectors, for tests of the wrap
  size_t arenaBytes = size_t{8} << 20;
  bool sharesDevice = false;  // all ranks are one process's, on one device
};

template <class Rules, template <class> class PlatformOf = TestPlatform>
class TestWorld {
 public:
  using Platform = PlatformOf<Rules>;

  explicit TestWorld(const WorldShape& shape) : shape_(shape), arena_(shape.arenaBytes), pool_(arena_) {
    for (uint32_t r = 0; r < shape.ranks; ++r) devices_.push_back(std::make_unique<DeviceWaits>());
    for (uint32_t r = 0; r < shape.ranks; ++r)
      sides_.push_back(std::make_unique<Side>(r, shape, *devices_[deviceOf(r)]));
  }

  uint32_t size() const { return shape_.ranks; }
  RankMemory& memory(uint32_t rank) { return sides_[rank]->memory; }
  RankDaemon<Platform>& daemon(uint32_t rank) { return sides_[rank]->daemon; }
  ConnectorPool& pool() { return pool_; }

  bool stepBlock(uint32_t rank, uint32_t block) { return sides_[rank]->daemon.stepBlock(platform_, block); }
  /// @param isWanted also where there is nothing to do.
  bool tryStart(uint32_t rank, bool isWanted = false) {
    if (isResident(rank)) return false;
    // Before it is there: a daemon that has nothing to do may say at once that it leaves.
    Surroundings::isLeaving[&memory(rank)] = false;
    return sides_[rank]->daemon.tryStart(platform_, isWanted);
  }
  uint32_t deviceOf(uint32_t rank) const { return shape_.sharesDevice ? 0 : rank; }
  bool isResident(uint32_t rank) const { return sides_[rank]->memory.residency.isResident(); }
  uint64_t residentStay(uint32_t rank) const {
    return isResident(rank) ? sides_[rank]->memory.residency.launches.load(order::relaxed) : 0;
  }
  bool isStayOver(uint32_t rank, uint64_t stay) const { return residentStay(rank) != stay; }

  /// @param program this rank's; empty: the built-in direct one. @return the index that submissions name.
  uint32_t registerCollective(uint32_t rank, const CollectiveSpec& spec, const std::vector<uint8_t>& program) {
    Side& side = *sides_[rank];
    uint32_t member = 0;
    while (spec.ranks[member] != rank) ++member;
    const std::vector<uint8_t> bytes =
        program.empty()
            ? buildDirectProgram(spec.collective, static_cast<uint32_t>(spec.ranks.size()), member, spec.root)
            : program;
    Entry entry;
    entry.program = loadProgram(bytes, spec.type, spec.count, shape_.tiles);
    entry.group = groupFor(spec, member, entry.program->header.digest);
    entry.member = member;
    uint32_t index = 0;
    while (side.entries[index].group) ++index;
    const uint32_t blockCount = entry.program->header.blockCount;
    CollectiveRecord& record = side.memory.collectives[index];
    record = describedRecord(spec, index, member, side.tasks.take(blockCount).value());
    record.program = entry.program.get();
    for (uint32_t block = 0; block < blockCount; ++block) {
      side.memory.contexts[record.firstTask + block] = TaskContext{{}, index, block, blockCount, 0};
    }
    entry.group->join(member, *entry.program, {}, spec.scale, record);
    for (uint32_t b = 0; b < shape_.limits.grid; ++b) side.daemon.block(b).forgetPrepared(index);
    if (record.isMovable == 0) record.firstBlock = static_cast<uint16_t>(index % shape_.limits.grid);
    entry.issued = 0;
    Mailbox& box = entry.group->shared().mailboxes[member];
    if (box.input.load(order::relaxed) == 0 && Surroundings::memory != nullptr) {
      const uint64_t nowhere = Mailbox::address(Surroundings::memory->nowhere());
      box.input.store(nowhere, order::relaxed);
      box.output.store(nowhere, order::relaxed);
    }
    for (uint32_t i = 0; shape_.firstPosition != 0 && i < entry.program->connections.size(); ++i) {
      ConnectorMemory& c = *record.connections[i].memory;
      if (c.tail.load(order::relaxed) != 0) continue;
      c.tail.store(shape_.firstPosition, order::relaxed);
      c.head.store(shape_.firstPosition, order::relaxed);
    }
    applyConnectorMistakes(*entry.group, record, rank, spec);
    side.entries[index] = std::move(entry);
    return index;
  }

  /// @return false: runs are in flight, nothing was done.
  bool unregister(uint32_t rank, uint32_t index) {
    Side& side = *sides_[rank];
    Entry& entry = side.entries[index];
    CollectiveRecord& record = side.memory.collectives[index];
    if (!shape_.mistakes.unregistersInUse && record.finishedRuns.load(order::acquire) != entry.issued) return false;
    side.tasks.giveBack(record.firstTask, entry.program->header.blockCount);
    rememberConnectors(record, rank, entry.group->spec());
    entry.group->leave(entry.member);
    if (entry.group->isAbandoned()) drop(entry.group);
    // So that the mistake shows in results, not in freed memory.
    if (shape_.mistakes.unregistersInUse) unregisteredInUse_.push_back(entry);
    entry = Entry{};
    return true;
  }

  void abort(uint32_t rank, uint32_t index) {
    CollectiveGroup& group = *sides_[rank]->entries[index].group;
    uint32_t nobody = CollectiveShared::kNobody;
    if (!group.shared().poisonedBy.compareExchange(nobody, rank, order::acqRel, order::relaxed)) return;
    for (uint32_t m = 0; m < group.spec().ranks.size(); ++m) {
      if (!group.isMember(m)) continue;
      ControlRing& control = sides_[group.spec().ranks[m]]->memory.control;
      control.put({ControlRequest::abort, group.indexOf(m)}, order::release);
    }
  }
  bool isComplete(uint32_t rank, uint32_t index) const { return shared(rank, index).isComplete(); }
  bool isPoisoned(uint32_t rank, uint32_t index) const { return shared(rank, index).isPoisoned(); }
  bool isQuarantineOver(uint32_t rank, uint32_t index) const {
    const CollectiveGroup& group = *sides_[rank]->entries[index].group;
    for (uint32_t m = 0; m < group.spec().ranks.size(); ++m) {
      // Who never registered, or has left, touches nothing.
      if (group.isMember(m) && !hasDropped(group.spec().ranks[m], group.indexOf(m))) return false;
    }
    return shared(rank, index).isPoisoned();
  }
  /// Whether every block of this rank has let go of an aborted collective.
  bool hasDropped(uint32_t rank, uint32_t index) const {
    return sides_[rank]->memory.collectives[index].blocksDropped.load(order::acquire) == shape_.limits.grid;
  }

  /// @param flags kSqeBehindStream: it begins after arrive(). @return the run's completion slot, or nothing: full.
  std::optional<uint32_t> submit(uint32_t rank, uint32_t index, const void* send, void* recv, uint32_t flags = 0,
                                 uint16_t sendWindow = 0, uint16_t recvWindow = 0) {
    Side& side = *sides_[rank];
    if (side.producer.tryReserve(1) != Reserve::ok) return std::nullopt;
    const std::optional<uint32_t> slot = claimSlot(side, index);
    if (!slot) {
      side.producer.publish(0);
      return std::nullopt;
    }
    ++side.entries[index].issued;
    ++side.issuedEver[index];
    Sqe sqe{};
    sqe.id = index;
    sqe.flags = flags | (shape_.mistakes.forgetsControl ? 0 : side.memory.control.flagsOfEntry());
    sqe.completionSlot = *slot;
    sqe.sendAddress = reinterpret_cast<uint64_t>(send);
    sqe.recvAddress = reinterpret_cast<uint64_t>(recv);
    sqe.sendWindow = sendWindow;
    sqe.recvWindow = recvWindow;
    if ((flags & kSqeBehindStream) != 0) sqe.run = sqeRunOfLine(*slot, ++side.numbers[*slot]);
    side.producer.write(0, sqe);
    side.producer.publish(1);
    return slot;
  }
  /// A stream has come to the run that has this slot.
  void arrive(uint32_t rank, uint32_t slot) {
    Side& side = *sides_[rank];
    side.memory.pending.arrived[slot].store(side.numbers[slot], order::release);
  }
  /// A stream that waits, or is about to, for all runs of a collective that are queued.
  struct Wait {
    uint32_t index;
    uint32_t target;
  };
  Wait beginWait(uint32_t rank, uint32_t index) {
    devices_[deviceOf(rank)]->host.intents.fetchAdd(1, order::seqCst);
    return {index, static_cast<uint32_t>(sides_[rank]->issuedEver[index])};
  }
  /// The wait is taken back: it can't be given to the stream now.
  void retractWait(uint32_t rank) { devices_[deviceOf(rank)]->host.intents.fetchSub(1, order::seqCst); }
  /// The stream has it now.
  void giveWait(uint32_t rank, const Wait& wait) {
    Atomic<uint32_t>& awaited = devices_[deviceOf(rank)]->host.awaited[rank][wait.index];
    if (isBefore(awaited.load(order::relaxed), wait.target)) awaited.store(wait.target, order::release);
    retractWait(rank);
  }
  /// Of the daemons that have to be there while a stream of a rank waits: the worst of them.
  enum class Daemons { out, leaving, inside };
  Daemons daemonsOf(uint32_t rank) const {
    if (shape_.mistakes.waitsWithoutLooking) return Daemons::inside;
    Daemons worst = Daemons::inside;
    for (uint32_t r = 0; r < size(); ++r) {
      if (!isBesideWait(r, rank)) continue;
      if (!isResident(r)) return Daemons::out;
      if (Surroundings::isLeaving[&sides_[r]->memory]) worst = Daemons::leaving;
    }
    return worst;
  }
  void startBesideWait(uint32_t rank) {
    for (uint32_t r = 0; r < size(); ++r) {
      if (isBesideWait(r, rank)) tryStart(r, true);
    }
  }
  bool isReached(uint32_t rank, const Wait& wait) const {
    return !isBefore(sides_[rank]->memory.waiting.completed[wait.index].load(order::relaxed), wait.target);
  }
  /// What a submitter does after submit(), separately: it may lose the processor in between.
  void lookForDaemon(uint32_t rank) {
    RankMemory& m = sides_[rank]->memory;
    if (!m.residency.isResident()) m.submissions.header->needStart.store(1, order::release);
  }

  struct Completion {
    uint32_t slot;
    uint32_t index;
    CqeStatus status;
    uint16_t run;
  };
  /// One completion, its slot freed.
  std::optional<Completion> poll(uint32_t rank) {
    Side& side = *sides_[rank];
    for (uint32_t slot = 0; slot < shape_.limits.completionSlots; ++slot) {
      Atomic<uint64_t>& word = side.memory.completions.slots[slot];
      const uint64_t cqe = word.load(order::acquire);
      if (cqe == 0) continue;
      word.store(0, order::relaxed);
      if (shape_.mistakes.completionSlot == HostMistakes::Slot::owned) side.poller.free(slot);
      return Completion{slot, static_cast<uint32_t>(cqe), static_cast<CqeStatus>((cqe >> 32) & 0xffff),
                        static_cast<uint16_t>(cqe >> 48)};
    }
    return std::nullopt;
  }

 private:
  bool isBesideWait(uint32_t r, uint32_t rank) const {
    return shape_.mistakes.looksAfterItsRankOnly ? r == rank : deviceOf(r) == deviceOf(rank);
  }

  using ConnectionKey = std::tuple<uint32_t, uint32_t, uint32_t>;  // world ranks of source and destination, channel

  struct Entry {
    std::shared_ptr<CollectiveGroup> group;
    std::shared_ptr<const BoundProgram> program;
    uint32_t member = 0;
    uint64_t issued = 0;
  };
  struct Side {
    Side(uint32_t rank, const WorldShape& shape, DeviceWaits& device)
        : memory(rank, shape.limits, shape.policy),
          pending(memory),
          waiting(memory, device, rank),
          daemon(memory),
          producer(memory.submissions, 1),
          claimer(memory.completions),
          poller(memory.completions),
          tasks(shape.limits.tasks),
          entries(shape.limits.collectives),
          issuedEver(shape.limits.collectives),
          numbers(shape.limits.completionSlots) {
      // A block that looks where it has had no run finds the wrong one, as on a GPU, and not the end of a table.
      for (BlockMemory& block : memory.blocks) {
        for (uint32_t& run : block.lastRun) run = 0;
      }
    }
    CpuRankMemory memory;
    PendingTables pending;
    WaitingTables waiting;
    RankDaemon<Platform> daemon;
    EngineSubmissionProducer producer;
    CompletionOwnedSlots<>::Claimer claimer;
    CompletionOwnedSlots<>::Poller poller;
    TaskTable tasks;
    std::vector<Entry> entries;        // [index]
    std::vector<uint64_t> issuedEver;  // [index]
    std::vector<uint32_t> numbers;     // [completion slot]: of the last run on the slot's line
  };

  const CollectiveShared& shared(uint32_t rank, uint32_t index) const {
    return sides_[rank]->entries[index].group->shared();
  }

  std::shared_ptr<CollectiveGroup> groupFor(const CollectiveSpec& spec, uint32_t member, uint64_t digest) {
    for (const std::shared_ptr<CollectiveGroup>& group : groups_) {
      if (group->spec().id != spec.id) continue;
      CollectiveShared& s = group->shared();
      if (s.isPoisoned() && shape_.mistakes.reRegistersIntoAborted) {
        s.poisonedBy.store(CollectiveShared::kNobody, order::relaxed);
        s.registered.store(0, order::relaxed);
        return group;
      }
      const bool isReborn = shape_.mistakes.reRegistersIntoAborted && !group->isMember(member);
      if (s.isPoisoned() || (group->hasJoined(member) && !isReborn)) continue;
      if (!shape_.mistakes.ignoresDisagreement) group->checkAgreement(spec, digest, spec.ranks[member]);
      return group;
    }
    groups_.push_back(std::make_shared<CollectiveGroup>(spec, digest, arena_, pool_));
    return groups_.back();
  }

  void drop(const std::shared_ptr<CollectiveGroup>& group) {
    if (shape_.mistakes.reRegistersIntoAborted) return;
    std::erase(groups_, group);
  }

  std::optional<uint32_t> claimSlot(Side& side, uint32_t index) {
    switch (shape_.mistakes.completionSlot) {
      case HostMistakes::Slot::byCollective:
        return index;
      case HostMistakes::Slot::byPosition:
        return static_cast<uint32_t>(side.producer.position() % shape_.limits.completionSlots);
      case HostMistakes::Slot::owned:
        break;
    }
    if (side.claimer.claimedCount() >= shape_.limits.completionSlots) return std::nullopt;
    const uint32_t slot = side.claimer.tryClaim();
    return slot == kNoCompletionSlot ? std::nullopt : std::optional(slot);
  }

  static ConnectionKey keyOf(const ConnectionRecord& c, uint32_t rank, const CollectiveSpec& spec) {
    const uint32_t peer = spec.ranks[c.peer];
    return c.isSend ? ConnectionKey{rank, peer, c.channel} : ConnectionKey{peer, rank, c.channel};
  }

  void rememberConnectors(const CollectiveRecord& record, uint32_t rank, const CollectiveSpec& spec) {
    const Array<const ConnectionRecord>& records = record.program->connections;
    for (size_t i = 0; i < records.size(); ++i) {
      const Connector& c = record.connections[i];
      if (shape_.mistakes.reusesCountersAnew) {
        leftovers_[c.memory].assign(c.slots, c.slots + size_t{c.slotCount} * c.slotBytes);
      }
      if (shape_.mistakes.lendsConnectorsEarly) loose_[keyOf(records[i], rank, spec)] = c;
    }
  }

  void applyConnectorMistakes(const CollectiveGroup& group, CollectiveRecord& record, uint32_t rank,
                              const CollectiveSpec& spec) {
    const Array<const ConnectionRecord>& records = record.program->connections;
    for (size_t i = 0; i < records.size(); ++i) {
      Connector& c = record.connections[i];
      if (shape_.mistakes.lendsConnectorsEarly) {
        const ConnectionKey key = keyOf(records[i], rank, spec);
        const auto loose = loose_.find(key);
        c = lent_[&group].try_emplace(key, loose == loose_.end() ? c : loose->second).first->second;
      }
      const auto leftover = leftovers_.find(c.memory);
      if (leftover == leftovers_.end()) continue;
      std::copy(leftover->second.begin(), leftover->second.end(), c.slots);
      c.memory->head.store(0, order::relaxed);
      c.memory->tail.store(0, order::relaxed);
      leftovers_.erase(leftover);
    }
  }

  const WorldShape shape_;
  Arena arena_;
  ConnectorPool pool_;
  std::vector<std::unique_ptr<DeviceWaits>> devices_;
  std::vector<std::shared_ptr<CollectiveGroup>> groups_;
  std::vector<std::unique_ptr<Side>> sides_;
  Platform platform_;
  // Of the mistakes only.
  std::vector<Entry> unregisteredInUse_;
  std::map<const ConnectorMemory*, std::vector<uint8_t>> leftovers_;
  std::map<ConnectionKey, Connector> loose_;
  std::map<const CollectiveGroup*, std::map<ConnectionKey, Connector>> lent_;
};

}  // namespace dfccl::test

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

#include "cpu/cpu_rank_memory.hpp"
#include "dfccl/daemon/rank_daemon.hpp"
#include "pending_tables.hpp"
#include "program/program_loader.hpp"
#include "test_platform.hpp"
#include "waiting_tables.hpp"
#include "world/builtin_programs.hpp"
#include "world/collective_group.hpp"
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
  bool waitsUnannounced = false;        // a stream waits before the daemon knows of it
  bool tellsWhileLeaving = false;       // ... or knows only when it has decided to leave
};

struct WorldShape {
  uint32_t ranks = 2;
  RankLimits limits{1, 8, 16, 16, 64};
  scheduling::SchedulePolicy policy{};
  TileSizes tiles{16, 16};
  HostMistakes mistakes{};
  uint64_t firstPosition = 0;  // of connectors, for tests of the wrap
  size_t arenaBytes = size_t{8} << 20;
};

template <class Rules>
class TestWorld {
 public:
  using Platform = TestPlatform<Rules>;

  explicit TestWorld(const WorldShape& shape) : shape_(shape), arena_(shape.arenaBytes), pool_(arena_) {
    for (uint32_t r = 0; r < shape.ranks; ++r) sides_.push_back(std::make_unique<Side>(r, shape));
  }

  uint32_t size() const { return shape_.ranks; }
  RankMemory& memory(uint32_t rank) { return sides_[rank]->memory; }
  RankDaemon<Platform>& daemon(uint32_t rank) { return sides_[rank]->daemon; }
  ConnectorPool& pool() { return pool_; }

  bool stepBlock(uint32_t rank, uint32_t block) { return sides_[rank]->daemon.stepBlock(platform_, block); }
  bool tryStart(uint32_t rank) {
    if (!sides_[rank]->daemon.tryStart(platform_)) return false;
    const uint64_t head = memory(rank).submissions.header->head.load(order::relaxed);
    Surroundings::pollers[&memory(rank)] = {head};
    return true;
  }
  /// The rank's poller reads what has come.
  void readAhead(uint32_t rank) {
    if (!isResident(rank)) return;
    Side& side = *sides_[rank];
    Poller& poller = Surroundings::pollers[&side.memory];
    const uint64_t tail = side.memory.submissions.header->tail.load(order::relaxed);
    poller.waits += static_cast<uint32_t>(std::count_if(side.waits.begin(), side.waits.end(), [&](uint64_t position) {
      return position >= poller.seen && position < tail;
    }));
    poller.seen = tail;
    if (!poller.isLeaving || shape_.mistakes.tellsWhileLeaving) side.waitsSeen = tail;
  }
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
      if (!group.isMember(m)) {
        group.shared().abortAcknowledged.fetchAdd(1, order::acqRel);
        continue;
      }
      ControlRing& control = sides_[group.spec().ranks[m]]->memory.control;
      const uint64_t tail = control.tail.load(order::relaxed);
      control.collectives[tail % ControlRing::kCapacity].store(group.indexOf(m), order::relaxed);
      control.tail.store(tail + 1, order::release);
    }
  }
  bool isComplete(uint32_t rank, uint32_t index) const { return shared(rank, index).isComplete(); }
  bool isPoisoned(uint32_t rank, uint32_t index) const { return shared(rank, index).isPoisoned(); }
  bool isQuarantineOver(uint32_t rank, uint32_t index) const {
    const CollectiveShared& s = shared(rank, index);
    return s.isPoisoned() && s.abortAcknowledged.load(order::acquire) >= s.members;
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
    side.producer.write(0, sqe);
    side.producer.publish(1);
    return slot;
  }
  /// A stream has come to the run that has this slot.
  void arrive(uint32_t rank, uint32_t slot) { sides_[rank]->memory.pending.notices.add(slot); }
  /// A stream that is about to wait for all runs of a collective that are queued.
  struct Wait {
    uint32_t index;
    uint32_t target;
    uint64_t position;  // of the entry that says so
  };
  /// @return nothing: the queue is full.
  std::optional<Wait> announce(uint32_t rank, uint32_t index) {
    Side& side = *sides_[rank];
    if (side.producer.tryReserve(1) != Reserve::ok) return std::nullopt;
    const Wait wait{index, static_cast<uint32_t>(side.issuedEver[index]), side.producer.position()};
    Sqe sqe{};
    sqe.id = index;
    sqe.flags = kSqeAwait;
    sqe.recvAddress = wait.target;
    side.producer.write(0, sqe);
    side.producer.publish(1);
    side.waits.push_back(wait.position);
    return wait;
  }
  /// Whether the stream may be made to wait.
  bool isAnnounced(uint32_t rank, const Wait& wait) const {
    return shape_.mistakes.waitsUnannounced || sides_[rank]->waitsSeen > wait.position ||
           sides_[rank]->memory.submissions.header->head.load(order::acquire) > wait.position;
  }
  bool isOver(uint32_t rank, const Wait& wait) const {
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
  using ConnectionKey = std::tuple<uint32_t, uint32_t, uint32_t>;  // world ranks of source and destination, channel

  struct Entry {
    std::shared_ptr<CollectiveGroup> group;
    std::shared_ptr<const BoundProgram> program;
    uint32_t member = 0;
    uint64_t issued = 0;
  };
  struct Side {
    Side(uint32_t rank, const WorldShape& shape)
        : memory(rank, shape.limits, shape.policy),
          pending(memory),
          waiting(memory),
          daemon(memory),
          producer(memory.submissions, 1),
          claimer(memory.completions),
          poller(memory.completions),
          tasks(shape.limits.tasks),
          entries(shape.limits.collectives),
          issuedEver(shape.limits.collectives) {
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
    std::vector<uint64_t> waits;       // positions of entries that say that a stream waits
    uint64_t waitsSeen = 0;            // ... which the poller has told up to here
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
        s.abortAcknowledged.store(0, order::relaxed);
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

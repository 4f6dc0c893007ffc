#pragma once
// Several ranks and their daemons under any set of rules, with no thread of its own: the test decides who takes the
// next step. What World does for an application, in the few lines that these tests need, with the mistakes that a host
// could make as switches.
#include <memory>
#include <optional>
#include <vector>

#include "connector_mistakes.hpp"
#include "joint_registrations.hpp"
#include "program/program_loader.hpp"
#include "test_platform.hpp"
#include "test_rank.hpp"
#include "world/builtin_programs.hpp"
#include "world/collective_record.hpp"
#include "world/large_programs.hpp"
#include "world_shape.hpp"

namespace dfccl::test {

template <class Rules, template <class> class PlatformOf = TestPlatform>
class TestWorld {
 public:
  using Platform = PlatformOf<Rules>;

  explicit TestWorld(const WorldShape& shape)
      : shape_(shape), registrations_(shape), connectorMistakes_(shape.mistakes) {
    for (uint32_t r = 0; r < shape.ranks; ++r) devices_.push_back(std::make_unique<DeviceWaits>());
    for (uint32_t r = 0; r < shape.ranks; ++r)
      sides_.push_back(std::make_unique<Side>(r, shape_, *devices_[deviceOf(r)]));
  }

  uint32_t size() const { return shape_.ranks; }
  RankMemory& memory(uint32_t rank) { return sides_[rank]->memory; }
  RankDaemon<Platform>& daemon(uint32_t rank) { return sides_[rank]->daemon; }
  ConnectorPool& pool() { return registrations_.pool(); }

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

  /// @param program this rank's; empty: the built-in direct one. @param rings runs may go through such, or null.
  /// @return the index that submissions name.
  uint32_t registerCollective(uint32_t rank, const CollectiveSpec& spec, const std::vector<uint8_t>& program,
                              const RingSizes* rings = nullptr) {
    Side& side = *sides_[rank];
    uint32_t member = 0;
    while (spec.ranks[member] != rank) ++member;
    const std::vector<uint8_t> bytes =
        program.empty()
            ? buildDirectProgram(spec.collective, static_cast<uint32_t>(spec.ranks.size()), member, spec.root)
            : program;
    Registered entry;
    entry.program = loadProgram(bytes, spec.type, spec.count, shape_.tiles);
    entry.registration = registrations_.registrationFor(spec, member, entry.program->header.digest);
    entry.member = member;
    uint32_t index = 0;
    while (side.entries[index].registration) ++index;
    const uint32_t blockCount = entry.program->header.blockCount;
    CollectiveRecord& record = side.memory.collectives[index];
    record = describedRecord(spec, index, member, side.tasks.take(blockCount).value());
    record.program = entry.program.get();
    if (rings != nullptr) entry.rings = planRings(spec, member, *rings);
    record.rings = entry.rings.get();
    if (entry.rings) registrations_.giveRingProgress(*entry.registration);
    for (uint32_t block = 0; block < blockCount; ++block) {
      side.memory.contexts[record.firstTask + block] = TaskContext{{}, index, block, blockCount, 0};
    }
    entry.registration->join(member, entry.program, {}, spec.scale, record);
    for (uint32_t b = 0; b < shape_.limits.grid; ++b) side.daemon.block(b).forgetPrepared(index);
    if (record.isMovable == 0) record.firstBlock = static_cast<uint16_t>(index % shape_.limits.grid);
    entry.issued = 0;
    Mailbox& box = entry.registration->shared().mailboxes[member];
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
    connectorMistakes_.apply(*entry.registration, record, rank, spec);
    side.entries[index] = std::move(entry);
    return index;
  }

  /// @return false: runs are in flight, nothing was done.
  bool unregister(uint32_t rank, uint32_t index) {
    Side& side = *sides_[rank];
    Registered& entry = side.entries[index];
    CollectiveRecord& record = side.memory.collectives[index];
    if (!shape_.mistakes.unregistersInUse && record.finishedRuns.load(order::acquire) != entry.issued) return false;
    side.tasks.giveBack(record.firstTask, entry.program->header.blockCount);
    connectorMistakes_.remember(record, rank, entry.registration->spec());
    entry.registration->leave(entry.member, Departure::forGood, record.finishedRuns.load(order::acquire));
    if (entry.registration->isAbandoned()) registrations_.drop(entry.registration);
    // So that the mistake shows in results, not in freed memory.
    if (shape_.mistakes.unregistersInUse) unregisteredInUse_.push_back(entry);
    entry = Registered{};
    return true;
  }

  void abort(uint32_t rank, uint32_t index) {
    LocalRegistration& registration = *sides_[rank]->entries[index].registration;
    uint32_t nobody = CollectiveShared::kNobody;
    if (!registration.shared().poisonedBy.compareExchange(nobody, rank, order::acqRel, order::relaxed)) return;
    for (uint32_t m = 0; m < registration.spec().ranks.size(); ++m) {
      if (!registration.isMember(m)) continue;
      ControlRing& control = sides_[registration.spec().ranks[m]]->memory.control;
      control.put({ControlRequest::abort, registration.indexOf(m)}, order::release);
    }
  }
  bool isComplete(uint32_t rank, uint32_t index) const { return shared(rank, index).isComplete(); }
  bool isPoisoned(uint32_t rank, uint32_t index) const { return shared(rank, index).isPoisoned(); }
  bool isQuarantineOver(uint32_t rank, uint32_t index) const {
    const LocalRegistration& registration = *sides_[rank]->entries[index].registration;
    for (uint32_t m = 0; m < registration.spec().ranks.size(); ++m) {
      // Who never registered, or has left, touches nothing.
      if (registration.isMember(m) && !hasDropped(registration.spec().ranks[m], registration.indexOf(m))) return false;
    }
    return shared(rank, index).isPoisoned();
  }
  /// Whether every block of this rank has let go of an aborted collective.
  bool hasDropped(uint32_t rank, uint32_t index) const {
    return sides_[rank]->memory.collectives[index].blocksDropped.load(order::acquire) == shape_.limits.grid;
  }

  /// @param flags kSqeBehindStream: it begins after arrive(). @return the run's completion slot, or nothing: full.
  std::optional<uint32_t> submit(uint32_t rank, uint32_t index, const void* send, void* recv, uint32_t flags = 0,
                                 uint16_t sendWindow = 0, uint16_t recvWindow = 0, const void* ring = nullptr) {
    return sides_[rank]->submit(index, send, recv, flags, sendWindow, recvWindow, ring);
  }
  /// What a run of a rank may go through, or null.
  const OwnedRingPlan* ringsOf(uint32_t rank, uint32_t index) const { return sides_[rank]->entries[index].rings.get(); }
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
    DeviceAwaited& device = devices_[deviceOf(rank)]->host;
    if (shape_.mistakes.awaitsUncounted) {
      device.awaited[0][rank][wait.index].store(wait.target, order::release);
    } else {
      device.raise(0, rank, wait.index, wait.target);
    }
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

  using Completion = TestCompletion;
  /// One completion, its slot freed.
  std::optional<Completion> poll(uint32_t rank) { return sides_[rank]->poll(); }

 private:
  using Side = TestRank<Platform>;

  bool isBesideWait(uint32_t r, uint32_t rank) const {
    return shape_.mistakes.looksAfterItsRankOnly ? r == rank : deviceOf(r) == deviceOf(rank);
  }

  const CollectiveShared& shared(uint32_t rank, uint32_t index) const {
    return sides_[rank]->entries[index].registration->shared();
  }

  const WorldShape shape_;
  std::vector<std::unique_ptr<DeviceWaits>> devices_;
  JointRegistrations registrations_;
  std::vector<std::unique_ptr<Side>> sides_;
  Platform platform_;
  // Of the mistakes only.
  std::vector<Registered> unregisteredInUse_;
  ConnectorMistakes connectorMistakes_;
};

}  // namespace dfccl::test

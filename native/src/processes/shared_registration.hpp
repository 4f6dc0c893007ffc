#pragma once
// A collective's registration where its ranks are processes: the same as LocalRegistration, with every byte that
// another rank looks at in the segment. Each process has a handle of its own to the one record. Everything here happens
// under the segment's lock; what daemons read is complete before `registered` says so.
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "processes/segment.hpp"
#include "program/program_loader.hpp"
#include "world/joint_registration.hpp"

namespace dfccl {

struct SharedConnection {
  SharedConnection* next;
  uint32_t source, destination, channel;
  Connector connector;
};

struct SharedMember {
  // leaving: unregistered, and what it sent to other machines may still lie in its connectors; or its memory, which
  // isn't the segment's, is still in reach of others. away: it has left for now.
  enum State : uint32_t { absent, joined, leaving, left, away };
  Atomic<uint32_t> state;
  uint32_t index;
  Atomic<uint64_t> finishedRuns;  // when it left
  // Of a member on another machine: the last of its registrations that was heard of here; and what to add to its number
  // of a run for the number here, as both sides may have begun anew at other times.
  uint64_t coming;
  uint64_t firstRun;
  Atomic<uint64_t> issuedRuns;  // on devices: by its host, before its streams come to them
  // Since when this rank has had the same run unfinished, as its watch has seen it; 0: none. For whoever looks on.
  Atomic<uint64_t> waitingSinceMillis;
  Atomic<uint64_t> waitingRun;
  uint64_t scratchBytes, landingBytes;
  // What the others need of it: its program, as whoever comes last joins all programs' moves; on devices, where it is.
  const uint8_t* program;
  uint64_t programBytes;
  Atomic<uint64_t, Scope::device>* blockProgress;  // [block]; its daemon's own, and it may come back to it
  uint64_t blockCount;

  /// By this rank's watch: which run is under way, and since when. @param submitted, finished so many runs.
  void noteRuns(uint64_t submitted, uint64_t finished, uint64_t nowMillis);
};

/// In the segment. Each array has one entry a member.
struct SharedRegistrationRecord {
  CollectiveShared shared;
  SharedRegistrationRecord* next;  // in its list
  uint64_t number;                 // in the order of their making
  CollectiveId id;
  Collective collective;
  DataType type;
  ReduceOp op;
  uint64_t count;
  bool countPerRun;
  uint32_t mostBlocks;
  uint32_t root;
  SignatureFacts signature;
  uint32_t generation;  // where members are on other machines: which registration of these ranks it is
  bool spansHosts;
  bool isOnDevices;
  Atomic<uint64_t> lost;  // see SharedRegistration::noteLost; the presence above the rank
  uint64_t programDigest;
  Mailbox* mailboxes;
  Atomic<uint64_t>* finishedAccess;
  RingProgress* ringProgress;
  uint8_t** scratch;
  uint8_t** landings;
  double* scales;
  uint32_t* ranks;
  SharedMember* members;
  SharedConnection* connections;
  JointMove* jointMoves;
  JointRef* jointRefs;
};

/// As its ranks have agreed on it.
CollectiveSpec specOf(const SharedRegistrationRecord& record);

class SharedRegistration final : public JointRegistration {
 public:
  /// A handle to a registration that another rank has begun.
  SharedRegistration(std::shared_ptr<Segment> segment, SharedRegistrationRecord* record, const TileSizes& tiles);

  SharedRegistrationRecord* record() { return record_; }
  /// Runs that a member has finished; it need not be there any more.
  uint64_t finishedRunsOf(uint32_t member) const;
  /// As MemberProgress has it, of a member on a device.
  uint64_t issuedRunsOf(uint32_t member) const { return record_->members[member].issuedRuns.load(order::relaxed); }
  /// The collective as a member has it in its tables. @pre isMember(member)
  CollectiveRecord& recordOf(uint32_t member) const;
  /// Whether, after an abort, a member can't touch the others' buffers any more.
  bool hasLetGo(uint32_t member) const;

  void checkAgreement(const CollectiveSpec& spec, uint64_t programDigest, uint32_t rank) const override;
  void join(uint32_t member, std::shared_ptr<const BoundProgram> program, std::span<const uint8_t> bytes, double scale,
            CollectiveRecord& record) override;
  void leave(uint32_t member, Departure departure, uint64_t finishedRuns) override;
  /// In place of join() where each member's memory is its own device's: tells the others what they need to know of it.
  /// @throws Error dfcclOutOfMemory
  void joinOnDevice(uint32_t member, uint32_t index, std::span<const uint8_t> facts);
  /// @pre isAway(member), whose memory is where it was.
  void comeBackOnDevice(uint32_t member, uint32_t index);
  /// What a member told when it joined; any thread, while this rank is a member or leaving. Empty: it hasn't yet.
  std::span<const uint8_t> factsOf(uint32_t member) const;
  /// @pre this member is leaving.
  void finishLeaving(uint32_t member) { record_->members[member].state.store(SharedMember::left, order::release); }
  bool hasLeft(uint32_t member) const { return stateOf(member) == SharedMember::left; }
  /// This machine's members have left for now, and nobody needs them to come back here: they are gone.
  bool isOverFor(uint32_t member) const { return stateOf(member) == SharedMember::leaving; }
  /// A member has left: those who are away don't come back if they needn't.
  void settle();
  bool hasJoined(uint32_t member) const override { return stateOf(member) != SharedMember::absent; }
  bool isMember(uint32_t member) const override { return stateOf(member) == SharedMember::joined; }
  bool isAway(uint32_t member) const override { return stateOf(member) == SharedMember::away; }
  bool spansHosts() const { return record_->spansHosts; }
  /// Whether a member is on another machine.
  bool isElsewhere(uint32_t member) const { return !isLocal(member); }
  uint64_t runsAtLeaving(uint32_t member) const override {
    return record_->members[member].finishedRuns.load(order::relaxed);
  }
  bool isAbandoned() const override;
  const CollectiveSpec& spec() const override { return spec_; }
  CollectiveShared& shared() override { return record_->shared; }
  uint32_t indexOf(uint32_t member) const override { return record_->members[member].index; }
  size_t connectorBytes() const override;
  size_t jointBytes() const override;
  size_t ownBytes() const override { return sizeof *record_; }

  /// Another machine has registered it differently, which shows only after both have: why its runs end.
  void noteMismatch(const std::string& text);
  /// That it is given up because a member is gone. Before it is poisoned: who sees that can name the member, though he
  /// may not have noticed himself.
  void noteLost(uint32_t rank, Presence presence);
  /// The first that was noted; `presence` is joined where none was.
  std::pair<uint32_t, Presence> lost() const;
  std::string mismatch() const;

 private:
  uint32_t stateOf(uint32_t member) const { return record_->members[member].state.load(order::acquire); }
  bool isLocal(uint32_t member) const { return segment_->isLocal(record_->ranks[member]); }
  Connector connectionTo(uint32_t source, uint32_t destination, uint32_t channel, uint32_t slotCount,
                         uint32_t slotBytes);
  void joinAllMoves();
  void takeEnds(uint32_t member, const BoundProgram& program);
  void enter(uint32_t member, const BoundProgram& program, CollectiveRecord& record);
  SharedMember::State goneState() const;

  std::shared_ptr<Segment> segment_;
  SharedRegistrationRecord* record_;
  TileSizes tiles_;
  CollectiveSpec spec_;  // as agreed
  mutable std::mutex mismatchMutex_;
  std::string mismatch_;
  std::vector<Connector> ends_;
};

}  // namespace dfccl

#pragma once
// What the daemon keeps for a collective, a run and a task. All of it lives in device memory (on the CPU: the process)
// and survives the daemon's leaving.
#include <cstdint>

#include "base/atomics.hpp"
#include "base/types.hpp"
#include "daemon/state/bound_program.hpp"
#include "daemon/state/connector.hpp"
#include "daemon/state/joint_moves.hpp"
#include "daemon/state/run_addresses.hpp"
#include "daemon/state/run_count.hpp"
#include "daemon/state/staging_ring.hpp"

namespace dfccl {

class ResultStores;

/// Where the other ranks of a collective find this rank's buffers, for one run. Each word vouches for itself: a 48-bit
/// address below 16 bits of the run's number plus one, so nothing has to be ordered between them. No member is ever two
/// runs ahead of another, so 16 bits can't be mistaken.
struct alignas(64) Mailbox {
  Atomic<uint64_t> input;
  Atomic<uint64_t> output;
  // In a copy with addresses of this process: by which names the member knows them, see NamedMailboxes.
  Atomic<uint64_t> inputName;
  Atomic<uint64_t> outputName;
  // Where runs bring their counts: the member's for this run; and for the last one in which they differed.
  Atomic<uint64_t> count;
  Atomic<uint64_t> mismatchedCount;

  DFCCL_HD static constexpr uint64_t pack(uint64_t address, uint64_t run) {
    return (address & kAddressMask) | (run + 1) << kRunShift;
  }
  DFCCL_HD static constexpr bool isOfRun(uint64_t word, uint64_t run) {
    return word >> kRunShift == ((run + 1) & 0xffff);
  }
  /// The run that a word is of, or one that any word of it can't be told from.
  DFCCL_HD static constexpr uint64_t runOf(uint64_t word) { return (word >> kRunShift) - 1; }
  DFCCL_HD static constexpr uint64_t address(uint64_t word) { return word & kAddressMask; }
  DFCCL_HD static constexpr uint64_t countOf(uint64_t word) { return word & kAddressMask; }

  DFCCL_HD void publish(uint64_t inputAddress, uint64_t outputAddress, uint64_t run, Order o) {
    input.store(pack(inputAddress, run), o);
    output.store(pack(outputAddress, run), o);
  }
  DFCCL_HD bool carries(uint64_t run) const {
    return isOfRun(input.load(order::acquire), run) && isOfRun(output.load(order::acquire), run);
  }

 private:
  static constexpr int kRunShift = 48;
  static constexpr uint64_t kAddressMask = (uint64_t{1} << kRunShift) - 1;
};

/// What the leader needs of a collective to pass a run of it on.
struct CollectiveHead {
  uint32_t firstTask;  // contexts of its program blocks: [firstTask, firstTask + blockCount)
  uint32_t blockCount;
  int32_t priority;
  // The block of the daemon that has the first of them; the others follow, modulo the grid.
  uint16_t firstBlock;
  // Nothing of it stays in its blocks between two runs but what the next one acquires, so the leader may give each run
  // to others.
  uint8_t isMovable;
  uint8_t wasAlone;                               // its last run came alone
  Atomic<uint64_t, Scope::device> submittedRuns;  // taken in by the leader

  /// @pre Before any run.
  /// @param staged or null, see CollectiveRecord.
  DFCCL_HD void place(const BoundProgram& program, const BoundProgram* staged = nullptr) {
    blockCount = program.header.blockCount;
    if (staged != nullptr && staged->header.blockCount > blockCount) blockCount = staged->header.blockCount;
    firstBlock = 0;
    // What a staged run leaves in its connectors, the next one acquires that uses them.
    isMovable = program.connections.empty() && program.dependencies.empty() && program.scratchBytes == 0;
    wasAlone = 0;
  }
};

/// Where the members of a collective meet. Constant once all of them have registered, so a platform may keep a copy at
/// hand. Where the members share no memory, each has its own mailboxes and counter, which the others write to.
struct MeetingPlaces {
  uint32_t members;
  uint32_t copyCount;                       // 1 where the members share memory, else as many as members
  Mailbox* mailboxes;                       // [member]: where this member looks
  Mailbox* knownMailboxes;                  // [member]: the same, or a nearer copy of those that carry the current run
  Mailbox** mailboxCopies;                  // [copy]: what a member publishes goes to all of them
  Atomic<uint64_t>** finishedAccessCopies;  // [copy]
  uint8_t** scratch;                        // [member]
  uint8_t** landings;                       // [member]: where the others' parts of an exchange land; see Exchange
  double* scales;                           // [member], of scaledSum
  // [member]: where that member is another process with addresses of its own, what its words in `mailboxes` mean here;
  // then `knownMailboxes` is a table of this member's own. Null: addresses mean the same to all.
  const windows::Table* windows;
};

/// What all members of a collective share. Made by the first rank that registers, freed when the last has left.
struct CollectiveShared : MeetingPlaces {
  static constexpr uint32_t kNobody = 0xffffffff;

  uint32_t id;
  uint32_t* ranks;  // [member]: the rank in the world
  // Of all members' steps; see BoundProgram::togetherBytes. kNeverTogether where runs bring their counts.
  Atomic<uint64_t> togetherBytes;
  JointMoves joint;                         // complete when all members have registered; empty where there is too much
  alignas(64) Atomic<uint32_t> registered;  // members that have registered; all of them = complete
  Atomic<uint32_t> poisonedBy;              // rank that aborted the id, or kNobody
  alignas(64)
      Atomic<uint64_t> finishedAccess;  // += 1 by each member that will not touch another's buffers in its run again

  // Where the last member to arrive executes for all: arrivals, and runs that were executed.
  alignas(64) Atomic<uint64_t> arrivals;
  alignas(64) Atomic<uint64_t> executedRuns;
  // Where runs bring their counts: what the last member to arrive found, see CountAgreement; and the last run in which
  // they differed, plus one.
  Atomic<uint64_t> judgement;
  Atomic<uint64_t> mismatchedRun;
  RingProgress* ringProgress;  // [member]; null where no run goes through rings

  DFCCL_HD bool isComplete(Order look = order::acquire) const { return registered.load(look) == members; }
  DFCCL_HD bool isPoisoned(Order look = order::acquire) const { return poisonedBy.load(look) != kNobody; }
};

/// One collective as one rank sees it. Written by registration before its index is ever submitted.
struct CollectiveRecord : CollectiveHead {
  uint32_t id;
  uint32_t index;               // in the rank's table: what an SQE names
  uint32_t registrationNumber;  // how many collectives had this index before
  uint32_t member;              // this rank's position among the members
  DataType type;
  ReduceOp op;
  uint8_t hasCountPerRun;  // its runs bring their counts, none above the program's
  const BoundProgram* program;
  const RingPlan* rings;  // of members that share other memory than that of their buffers, else null
  // Above is what the leader looks at of each run: it fills the first line of 64 bytes.
  // The program of a run in which some member has a buffer that others haven't mapped: through connectors. Null where
  // there is none: such a run waits then. A block that one of the two programs has not has nothing to do in it.
  const BoundProgram* staged;
  Connector* connections;  // [connections of `staged`, else of `program`]
  uint8_t* scratch;
  CollectiveShared* shared;
  const MeetingPlaces* places;  // of `shared`, or a nearer copy
  // All that is constant in this record and behind it, in one piece, where the platform keeps it at hand; else null.
  const void* image;
  uint64_t imageBytes;
  Atomic<uint64_t, Scope::device>*
      blockProgress;  // [program block]: steps finished since registration, for dependencies between blocks
  // Of all members together: chooses streaming stores. Where runs bring their counts: for each element of one.
  uint64_t workingSetBytes;
  ResultStores* stores;                                       // what they are like; null where nobody keeps that
  alignas(64) Atomic<uint32_t, Scope::device> blocksDropped;  // blocks that let go of it after an abort
  // Not 0: runs don't start yet, because not all members on other machines know that this rank has come.
  Atomic<uint32_t, Scope::device> isHeld;
  Atomic<uint64_t, Scope::device> finishedRuns;  // complete on every block of this rank: the next run may start
};

/// What the blocks of a rank have in common of one run: its count (correctness.md, "Names, runs, completions"). Its
/// index is the completion slot, which the producer claimed for this run alone. Its addresses every block keeps itself.
struct alignas(64) RunRecord {
  RunCount blocksDone;
  uint64_t count;  // that it brings, or where its ring is; the leader's, before any block hears of the run
};

enum class Phase : uint8_t {
  starting,  // registration elsewhere or the run before is still missing
  meeting,   // it is this run's turn; with direct forms, peers' buffers are still missing
  running,
  staging,   // running, by the staged program
  inRings,   // ... or through rings
  draining,  // all data moved; peers may still touch this rank's buffers
};

/// What changes while a task runs: saved when it is preempted after progress, loaded when it runs again.
struct DynamicContext {
  uint32_t tile;
  uint32_t step;
  Phase phase;
  uint8_t published;  // this rank's mailbox carries the current run
  uint8_t isLast;     // ... and was the last of all members' to do so
  uint8_t isSent;     // this member's part of the current slice's exchange is on its way
  uint32_t slot;      // completion slot of the current run

  /// From its first slice on.
  DFCCL_HD void beginSlices(Phase how) {
    phase = how;
    step = tile = 0;
  }
};
static_assert(sizeof(DynamicContext) == 16);

inline constexpr uint32_t kNoRun = 0xffffffff;

/// A task is (collective, program block): see block_placement.hpp for the block of the grid that it maps to: any
/// program runs on any grid.
struct TaskContext {
  DynamicContext dynamic;
  uint32_t collective;
  uint32_t programBlock;
  uint32_t blockCount;  // of the program
  uint32_t reserved;
};
static_assert(sizeof(TaskContext) == 32);

}  // namespace dfccl

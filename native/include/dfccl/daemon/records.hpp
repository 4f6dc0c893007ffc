#pragma once
// What the daemon keeps for a collective, a run and a task. All of it lives in device memory (on the CPU: the process)
// and survives the daemon's leaving.
#include <cstdint>

#include "dfccl/atomics.hpp"
#include "dfccl/daemon/bound_program.hpp"
#include "dfccl/daemon/connector.hpp"
#include "dfccl/daemon/run_count.hpp"
#include "dfccl/types.hpp"

namespace dfccl {

/// Where the other ranks of a collective find this rank's buffers, for one run. `published` is run + 1.
struct alignas(64) Mailbox {
  Atomic<uint64_t> published;  // stored last, with release; read first, with acquire
  Atomic<uint64_t> input;
  Atomic<uint64_t> output;
};

/// What all members of a collective share. Made by the first rank that registers, freed when the last has left.
struct CollectiveShared {
  static constexpr uint32_t kNobody = 0xffffffff;

  uint32_t id;
  uint32_t members;
  Mailbox* mailboxes;                       // [member]
  uint8_t** scratch;                        // [member]
  double* scales;                           // [member], of scaledSum
  uint32_t* ranks;                          // [member]: the rank in the world
  const BoundProgram** programs;            // [member]
  Atomic<uint64_t> togetherBytes;           // of all members' steps; see BoundProgram::togetherBytes
  alignas(64) Atomic<uint32_t> registered;  // members that have registered; all of them = complete
  Atomic<uint32_t> poisonedBy;              // rank that aborted the id, or kNobody
  Atomic<uint32_t> abortAcknowledged;       // members that hold none of the buffers any more
  alignas(64)
      Atomic<uint64_t> finishedAccess;  // += 1 by each member that will not touch another's buffers in its run again

  // Where the last member to arrive executes for all: arrivals, and runs that were executed.
  alignas(64) Atomic<uint64_t> arrivals;
  alignas(64) Atomic<uint64_t> executedRuns;

  bool isComplete() const { return registered.load(order::acquire) == members; }
  bool isPoisoned() const { return poisonedBy.load(order::acquire) != kNobody; }
};

/// One collective as one rank sees it. Written by registration before its index is ever submitted.
struct CollectiveRecord {
  uint32_t id;
  uint32_t index;   // in the rank's table: what an SQE names
  uint32_t member;  // this rank's position among the members
  int32_t priority;
  DataType type;
  ReduceOp op;
  uint32_t firstTask;  // contexts of its program blocks: [firstTask, firstTask + blockCount)
  const BoundProgram* program;
  Connector* connections;  // [program.connections]
  uint8_t* scratch;
  CollectiveShared* shared;
  Atomic<uint64_t>*
      blockProgress;         // [program block]: steps finished since registration, for dependencies between blocks
  uint64_t workingSetBytes;  // of all members together: chooses streaming stores
  alignas(64) Atomic<uint64_t> submittedRuns;  // taken in by the leader
  Atomic<uint32_t> blocksDropped;              // blocks that let go of it after an abort
  Atomic<uint64_t> finishedRuns;               // complete on every block of this rank: the next run may start
};

/// One run of a collective on this rank: its own addresses and its own count (correctness.md, "Names, runs,
/// completions"). Its index is the completion slot, which the producer claimed for this run alone.
struct alignas(64) RunRecord {
  uint64_t run;
  uint64_t sendAddress;
  uint64_t recvAddress;
  uint32_t collective;  // index
  RunCount blocksDone;
};

enum class Phase : uint8_t {
  starting,  // registration elsewhere, the run before, or (direct forms) a peer's buffers are still missing
  running,
  draining,  // all data moved; peers may still touch this rank's buffers
};

/// What changes while a task runs: saved when it is preempted after progress, loaded when it runs again.
struct DynamicContext {
  uint32_t tile;
  uint32_t step;
  Phase phase;
  uint8_t published;  // this rank's mailbox carries the current run
  uint8_t isLast;     // ... and was the last of all members' to do so
  uint8_t reserved;
  uint32_t slot;  // completion slot of the current run
};
static_assert(sizeof(DynamicContext) == 16);

inline constexpr uint32_t kNoRun = 0xffffffff;

/// A task is (collective, program block): it maps to grid block `programBlock % grid`, so any program runs on any grid.
struct TaskContext {
  DynamicContext dynamic;
  uint32_t collective;
  uint32_t programBlock;
  uint32_t reserved[2];
};
static_assert(sizeof(TaskContext) == 32);

}  // namespace dfccl

#pragma once
// What the threads of one block share.
#include <cstdint>

#include "base/program.hpp"
#include "daemon/framing/protocols.hpp"
#include "daemon/loop/leader.hpp"
#include "daemon/tasks/turn_round.hpp"
#include "threads.cuh"
#include "trace.cuh"

namespace dfccl::gpu {

/// Tasks that one block can have in its queue, which lies in shared memory: the host registers no more.
inline constexpr uint32_t kSharedTasks = 1024;
inline constexpr uint32_t kStagedEntries = 16;

/// Contexts kept at hand, as many as the tables below leave room for (bursts of 161 are usual), and constant parts of
/// collectives (the record, the program's tables, the meeting places) with the most that one takes. What is larger is
/// read where it lies.
inline constexpr uint32_t kNearContexts = 163;
inline constexpr uint32_t kNearImages = 3;
inline constexpr uint32_t kImageBytes = 24576;
inline constexpr uint32_t kNobodysImage = 0xffffffff;
inline constexpr uint32_t kMaxGrid = 65;

/// Tables that the control thread looks things up in, which therefore lie in shared memory: the most that the host may
/// ask for.
inline constexpr uint32_t kMostSharedSlots = 1024;
inline constexpr uint32_t kMostCollectives = 1024;
inline constexpr uint32_t kMostRuns = kMostSharedSlots + kMostCollectives;  // see slotsMade()
inline constexpr uint32_t kMostTasks = 8192;
/// Streams with runs on their way, at a time.
inline constexpr uint32_t kMostLines = 256;

/// How the constant part of a collective begins, in one piece with everything that its pointers name.
struct CollectiveImage {
  CollectiveRecord record;
  MeetingPlaces places;
  BoundProgram program;
};

enum class Work : uint32_t {
  leave,
  reduceCopy,
  preparedMove,
  preparedCopies,
  hasArrived,
  unpack,
  pack,
  exchange,
  preparedExchange,
  loadImage,
  saveTables,
  postProgress,
  lookAtWaits,
  request,
  round,
};

/// A look at so many tasks at once, see turn_round.cuh.
inline constexpr uint32_t kRoundTurns = 28;
struct RoundOrder {
  void* slots;  // ContextSlots of the platform
  RoundPositions positions;
};
/// What the workers have found out about one of them.
struct RoundPlan {
  PreparedPart* part;
  bool moves;
  bool stages;  // it is found to go through connectors
  bool isWhole;
  bool ends;
  bool sends;  // of an exchange
  bool receives;
  void* operands[PreparedMove::kMostOperands];
};
struct RoundShared {
  RoundPlan plans[kRoundTurns];
  RoundTurn turns[kRoundTurns];
  Atomic<uint32_t, Scope::block> isOver;  // as soon as the workers know it
};

/// An entry of the feed; see device_feed.cuh.
inline constexpr uint32_t kFeedWords = sizeof(FeedEntry) / 4;
struct alignas(128) FeedLine {
  Atomic<uint64_t, Scope::device> words[kFeedWords];
};

/// What the control thread asks of the workers.
struct TeamOrder {
  Work work;
  DataType type;
  ReduceOp op;
  Protocol protocol;
  ReduceCopyArgs args;
  const PreparedMove* move;
  const PreparedCopies* copies;
  const CollectiveRecord* view;  // for either
  RunAddresses run;              // ... too
  Exchange exchange;             // where the exchange is no other's in shared memory
  uint32_t exchangeOffset;       // of the one to do, in shared memory
  uint8_t* slot;
  uint8_t* payload;
  uint64_t bytes;
  uint64_t position;
  uint32_t slotBytes;
  uint32_t fill;
  uint32_t isUnanimous;  // the answer of a vote
  const uint4* image;
  uint4* nearImage;
  RoundOrder round;
  ControlRequest request;
};

/// Entries that the polling warp has read, of the host's queue or of the feed, and the control thread has not yet
/// taken.
struct StagedEntries {
  uint64_t words[kStagedEntries][kSqeWords];
  Atomic<uint64_t, Scope::block> filled;  // position behind the last entry here
  Atomic<uint64_t, Scope::block> taken;   // position behind the last one that the leader let go of
  Atomic<uint64_t, Scope::block> controlTail;
  Atomic<uint64_t, Scope::block> completionsPosted;
  Atomic<uint32_t, Scope::block> arrivals;         // counts up with whatever comes on a stream's line
  Atomic<uint32_t, Scope::block> awaitedLines;     // the leader's: lines to look at
  Atomic<uint64_t, Scope::block> facts[kMaxGrid];  // of every block, as the polling warp last saw them
  Atomic<uint32_t, Scope::block> news;             // times that the leader's polling warp has told of anything new
  Atomic<uint32_t, Scope::block> isOver;           // the polling warp may leave
};

/// What a daemon keeps between its stays beside RankMemory.
struct DaemonGate {
  Atomic<uint32_t, Scope::device> blocksLeft;
  uint64_t head;                               // of the host's queue
  Atomic<uint64_t, Scope::device> stayedOnAt;  // when a stay last went on as if it had only begun
  Atomic<uint32_t, Scope::device> gaveUp;      // the watchdog's: blocks that left because a stay went on for too long
  IntentPatience intents;                      // the leader's
};

/// What a stay leaves behind in the host's memory: a daemon with runs unfinished is to be started again.
struct StayReport {
  Atomic<uint32_t> leaving;  // it is about to leave, see waiting_streams.hpp; set back by whoever begins the next stay
  Atomic<uint64_t> entered;  // number of the last stay that has begun
  Atomic<uint64_t> submissionsTaken;
  Atomic<uint64_t> completionsPosted;
  Atomic<uint32_t> hasMoreArrivals;  // streams had come to runs that it did not take any more
};

/// Counters, in the host's memory: of the last stay's end, or some milliseconds old.
struct PostedCounters {
  RankCounters* rank = nullptr;
  BlockCounters* blocks = nullptr;  // [block]
};

/// What a block has at hand of its tasks.
struct alignas(16) KeptTasks {
  ContextSlot contexts[kNearContexts];
  PreparedPart prepared[kNearContexts];
};

struct LaunchArguments {
  const RankMemory* memory;
  DaemonGate* gate;
  StayReport* report;
  uint8_t* staging;     // [block]: kStagingBytes to receive, as many to send
  uint8_t* dropped;     // [block][kMostCollectives]: BlockTables::isDropped between stays
  KeptTasks* kept;      // [block]: BlockShared::kept between stays
  FeedLine* feedLines;  // [feed.capacity]
  TraceRing* traces;    // [block], and behind them the polling warp's
  PostedCounters posted;
  uint64_t watchdogNanos;
  uint64_t stay;          // its number, from 1
  uint32_t awaitedTable;  // of DeviceAwaited: what it stays for
  uint32_t isSuccessor;   // it was launched while the one before it was there
};

inline constexpr uint64_t kStagingBytes = 64 << 10;

template <class T>
struct alignas(16) Storage {
  unsigned char bytes[(sizeof(T) + 15) / 16 * 16];
  __device__ T& get() { return *reinterpret_cast<T*>(bytes); }
};

inline constexpr uint32_t kDaemonBytes = 1024;
inline constexpr uint32_t kLeaderBytes = 512;

/// What the daemon looks up by index.
struct BlockTables {
  uint32_t nextRun[kMostRuns];
  uint32_t partsAtEnd[kMostRuns];  // the leader's
  uint32_t lastRun[kMostCollectives];
  uint8_t isDropped[kMostCollectives];  // aborted, and this block has let go of it: later runs of it abort at once
  uint8_t isActive[kMostTasks];
  CollectiveHead heads[kMostCollectives];  // the leader's; blockCount 0: not looked up in this stay
};

struct BlockShared {
  Storage<RankMemory> memory;
  Storage<BlockMemory> block;
  BlockTables tables;
  BlockCounters counters;
  Atomic<uint32_t, Scope::block> arrivedOn[kMostLines];  // [line]: as the leader's polling warp last saw it
  TeamOrder order;
  StagedEntries staged;
  LaunchArguments launch;
  TraceCursor trace;        // the control thread's
  TraceCursor pollerTrace;  // the polling warp's first lane's
  uint8_t* staging;
  // The daemon's own state. Not on the control thread's stack: that lies behind the first-level cache, which every
  // acquiring load and every fence empties.
  alignas(16) unsigned char daemon[kDaemonBytes];
  alignas(16) unsigned char leader[kLeaderBytes];
  alignas(128) unsigned char images[kNearImages][kImageBytes];
  uint32_t imageOwners[kNearImages];  // indices of collectives
  MoveOperands operands;
  RoundShared round;
  QueueEntry queue[kSharedTasks];
  KeptTasks kept;
};

static_assert(sizeof(BlockShared) <= 227 << 10, "a block has no more shared memory");

extern __shared__ __align__(128) unsigned char dynamicShared[];

__device__ inline BlockShared& blockShared() { return *reinterpret_cast<BlockShared*>(dynamicShared); }

}  // namespace dfccl::gpu

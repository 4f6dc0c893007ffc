#pragma once
// The memory in which the processes of a world meet, one rank each. It has no name: rank 0 makes it, hands its
// descriptor on over a socket (rendezvous.hpp), and the system frees it when the last process is gone, however that
// ended. Every process maps it at the same address, so a pointer into it means the same everywhere, and the daemon's
// source is that of ranks in one process (docs/decisions/0010).
//
//   | header: lock, arena's books, registrations | rank 0 | rank 1 | ... | arena ...                             |
//                                                | bell, heartbeat, control ring, collective records |
//
// Who is alive is the system's to say: every process holds a lock on one byte of the descriptor, which ends with it.
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "daemon/state/rank_memory.hpp"
#include "processes/life_lock.hpp"
#include "processes/rank_set.hpp"
#include "processes/shared_arena.hpp"
#include "processes/shared_lock.hpp"
#include "world/collective_id.hpp"
#include "world/presence.hpp"

namespace dfccl {

struct SharedRegistrationRecord;
struct SharedGenerationRecord;

/// What all processes of a world must have in common; compared at the rendezvous, field by field.
struct SegmentShape {
  char version[32];  // of the library: no two versions share a layout
  uint32_t ranks;
  uint32_t grid;
  uint32_t collectives;
  uint32_t tasks;
  uint64_t slotPayloadBytes;
  uint64_t directTileBytes;
  uint64_t arenaBytes;
  uint32_t backend;  // BackendKind
};

/// One rank's part of the segment.
struct alignas(4096) RankArea {
  alignas(64) Atomic<uint32_t> bell;  // its threads sleep on it; whoever has something for them adds to it
  Atomic<uint32_t> attention;         // its watch sleeps on it
  alignas(64) Atomic<uint32_t> presence;
  Atomic<uint32_t> pid;
  Atomic<uint64_t> agreement;  // the last one that it has come to (agreement.hpp)
  Atomic<uint64_t>
      lostLinks[kMaxProcesses / RankSet::kWordBits];  // one bit a rank of another machine, out of its reach
  alignas(64) Atomic<uint64_t> heartbeat;             // grows while the process runs
  Atomic<uint64_t> windowNotes;                       // where its WindowNotes are; 0: it has none (yet)
  alignas(64) ControlRing control;
};

/// The last answer of an agreement; written and read under the lock, the number last and first.
struct SharedDecision {
  Atomic<uint64_t> number;
  RankSet survivors[2];  // [number % 2]: whoever dies writing one leaves the last one whole

  RankSet& of(uint64_t agreement) { return survivors[agreement % 2]; }
};

/// What this machine has promised the others and accepted of them (network/acceptor.hpp); under the lock.
struct SharedBallots {
  struct Accepted {
    uint64_t ballot;
    RankSet survivors;
  };
  Atomic<uint64_t> promised;
  Atomic<uint32_t> last;  // which of the two counts; stored last
  Accepted accepted[2];
};

class Segment {
 public:
  /// Makes the memory; this process is its first. @throws Error dfcclSystemError, dfcclOutOfMemory
  /// @param base where all map it (segment_places.hpp).
  /// @param locals the ranks that will map it; the world's others are on other machines. Empty: all.
  static std::shared_ptr<Segment> create(const SegmentShape& shape, uint32_t rank, uintptr_t base,
                                         const std::vector<uint32_t>& locals = {});
  /// Maps memory that another process has made. Takes `descriptor` over. @throws Error dfcclSystemError
  static std::shared_ptr<Segment> attach(int descriptor, const SegmentShape& shape, uint32_t rank);
  /// Maps the memory of a world that this process is not in, to look at it. Takes `descriptor` over.
  /// @return null where it is none that this version understands, or its place is taken here.
  static std::shared_ptr<Segment> observe(int descriptor);
  ~Segment();
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;

  int descriptor() const { return descriptor_; }
  const SegmentShape& shape() const { return shape_; }
  uint32_t ranks() const { return shape_.ranks; }
  uint32_t rank() const { return rank_; }
  /// What it takes of a process's addresses.
  static size_t bytesOf(const SegmentShape& shape);
  static constexpr uint32_t kObserver = 0xffffffff;  // the rank of a process that only looks
  RankArea& area(uint32_t rank) { return *areas_[rank]; }
  CollectiveRecord* records(uint32_t rank);
  /// Whether a rank's process is on this machine and has mapped this memory.
  bool isLocal(uint32_t rank) const;

  /// Whether another process can reach this memory too.
  bool contains(const void* begin, size_t bytes) const {
    const auto at = reinterpret_cast<uintptr_t>(begin);
    return at >= begin_ && at <= end_ && bytes <= end_ - at;
  }
  uintptr_t begin() const { return begin_; }
  uintptr_t end() const { return end_; }

  /// Held while registrations or the arena are changed. A holder that dies leaves it to the next one.
  class Lock {
   public:
    /// @throws Error dfcclTimeout naming the rank that holds it and doesn't give it back.
    explicit Lock(Segment& segment);
    /// Only if it is to be had at once.
    Lock(Segment& segment, std::try_to_lock_t);
    ~Lock();
    bool isHeld() const { return isHeld_; }
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;

   private:
    void taken(SharedLock::Taken taken);

    Segment& segment_;
    bool isHeld_ = false;
  };

  /// The job's name, for those who look at the world from outside; cut to what fits.
  std::string job() const;
  void setJob(const std::string& job);

  /// All of these: under the lock.
  SharedDecision& decision();
  SharedBallots& ballots();
  SharedArena arena();
  /// Registrations, in lists: those of an id are all in one, the oldest first.
  static constexpr uint32_t kRegistrationLists = 1024;
  static uint32_t registrationListOf(const CollectiveId& id);
  SharedRegistrationRecord*& registrationList(uint32_t list);
  /// How far registrations are that never leave these lists (shared_generations.hpp).
  SharedGenerationRecord*& generationList(uint32_t list);
  /// A number for each registration, ascending.
  uint64_t nextRegistrationNumber();

  /// A buffer of the user's, which the other processes can reach. Takes the lock.
  uint8_t* allocateBuffer(size_t bytes);
  void freeBuffer(uint8_t* buffer, size_t bytes) noexcept;

  /// This rank's threads go to sleep and want to be woken when another rank has moved on.
  void awaitPeers();
  void stopAwaitingPeers(uint32_t rank);
  /// This rank has moved on: wakes the threads that wait for that.
  void tellPeers();

  Presence presenceOf(uint32_t rank) { return static_cast<Presence>(area(rank).presence.load(order::acquire)); }
  /// Whether the process of a local rank that has joined is gone, whatever its presence says.
  bool isProcessGone(uint32_t rank) const;
  /// Says that this rank is there, and holds the lock by which the others see it.
  /// @throws Error dfcclSystemError
  void join();
  /// Says that it leaves of its own will.
  void leave();

 private:
  struct Header;
  /// @param base 0: where the memory says that it lies; else it is new.
  Segment(int descriptor, const SegmentShape& shape, uint32_t rank, uintptr_t base,
          const std::vector<uint32_t>& locals = {});
  void* map(uintptr_t base) const;

  int descriptor_ = -1;
  LifeLock life_;  // on byte `rank`
  SegmentShape shape_;
  uint32_t rank_;
  uint8_t* memory_ = nullptr;
  size_t bytes_ = 0;
  uintptr_t begin_ = 0, end_ = 0;
  Header* header_ = nullptr;
  std::vector<RankArea*> areas_;
};

}  // namespace dfccl

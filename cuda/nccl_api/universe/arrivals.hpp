#pragma once
// Where the ranks of a communicator that is being made come together, threads and processes alike: each tells who it
// is, and gets to know all. Shared memory with the communicator's name, see MeetingRoom.
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/atomics.hpp"
#include "nccl_api/universe/failure.hpp"
#include "nccl_api/universe/name.hpp"

namespace dfccl::nccl {

class MeetingRoom;

/// What a rank tells the others.
struct Arrival {
  static constexpr uint32_t kMostWorlds = 16;
  struct World {
    uint64_t id;
    int32_t rank;  // of this process, where all others are processes too; else -1
  };

  uint64_t process;             // tells processes apart
  uint64_t meetingPlace;        // and this machines, see meetingPlace()
  int32_t device;               // of the rank, as its process numbers it
  int32_t color, key;           // of a split
  uint32_t mostBlocks;          // of its daemon; 0: as many as it has by itself
  uint64_t mostBytesInStreams;  // see dfcclGroupRunInStreams, here and below
  uint32_t mostBlocksInStreams;
  uint32_t hardwareQueues;  // CUDA's, for the streams of its process on a device
  uint32_t roomForRuns;     // on the device, see roomForRunsOn()
  uint32_t hasFallback;     // another NCCL is named in its process
  ncclUniqueId realId;      // of that NCCL's, where the ranks meet to fall back
  uint32_t worldCount;      // worlds that its process is in
  World worlds[kMostWorlds];
};

/// How many seconds the making of a communicator waits for ranks (DFCCL_JOIN_TIMEOUT; 600), at most as many as there
/// are in 2^32 ms.
uint32_t joinSeconds();

/// Of a communicator's ranks, on one machine.
class Meeting {
 public:
  /// Takes the rank's seat. @param seconds that the rank waits, at most. @throws Failure ncclInvalidArgument: a rank
  /// has come twice, or with another number of ranks; ncclSystemError; as isComplete()
  Meeting(const Name& name, int ranks, int rank, uint32_t seconds, const Arrival& own);
  ~Meeting();
  Meeting(Meeting&&) noexcept;
  Meeting& operator=(Meeting&&) noexcept;

  /// @throws Failure where it never will be: ncclRemoteError, a rank has given it up; ncclTimeout, a rank's time is
  /// over, naming those that didn't come
  bool isComplete() const;
  /// Until it is complete, or never will be, but no longer than so.
  void wait(uint32_t micros) const;
  /// What each rank told. @pre it is complete
  std::vector<Arrival> all() const;
  /// This rank has left it: whoever is in it, or comes to it, is told.
  void giveUp() const;
  /// The same of a rank that has yet to come. @throws Failure ncclSystemError
  static void giveUp(const Name& name, int ranks, int rank);
  /// The rank's time is over, and the meeting with it, unless it is complete; ranks that come later meet anew.
  void end() const;

 private:
  Failure late(int rank) const;

  std::unique_ptr<MeetingRoom> room_;
  int rank_;
  uint32_t seconds_;
};

/// Waits until all ranks have come. @param isCancelled asked now and then; once it is so, the wait ends.
/// @return of each rank what it told.
/// @throws Failure as Meeting's; ncclTimeout where some didn't come within joinSeconds(); ncclInvalidUsage: cancelled.
std::vector<Arrival> meet(const Name& name, int ranks, int rank, const Arrival& own,
                          const std::function<bool()>& isCancelled);

/// @return ncclInvalidUsage: it was aborted while it was being made.
Failure abortedWhileMade();

}  // namespace dfccl::nccl

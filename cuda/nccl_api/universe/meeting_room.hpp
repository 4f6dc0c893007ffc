#pragma once
// The shared memory of one meeting, mapped here: /dev/shm/dfccl-nccl-NAME. Its name goes when the last rank has come,
// or their time is over. It stays where a rank gave it up, so that those that come later hear of it, and where
// processes were killed in it: for as long as ranks may come, and until another room is made then.
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "nccl_api/universe/arrivals.hpp"

namespace dfccl::nccl {

/// All of it begins as zero.
struct MeetingSeat {
  Atomic<uint32_t> isTaken;
  Atomic<uint32_t> isFilled;
  Atomic<uint32_t> seconds;  // that the rank waits, at most
  Arrival arrival;
};

/// What becomes of a meeting: decided once, by the rank that comes first to it.
struct MeetingOutcome {
  enum Kind : uint32_t { open, complete, givenUp, timeOver };
  static constexpr uint32_t of(Kind kind, int rank) { return kind | static_cast<uint32_t>(rank) << 2; }
  static constexpr Kind kindOf(uint32_t word) { return static_cast<Kind>(word & 3); }
  static constexpr int rankOf(uint32_t word) { return static_cast<int>(word >> 2); }
};

struct MeetingTable {
  Atomic<uint64_t> isOne;    // kMark
  Atomic<uint64_t> expires;  // the machine's clock, ms: nobody is in it, or comes to it, any more
  Atomic<uint32_t> ranks;
  Atomic<uint32_t> come;
  Atomic<uint32_t> outcome;  // a MeetingOutcome; ranks sleep on it
  MeetingSeat seats[1];      // [ranks]

  static constexpr uint64_t kMark = 0x316d6f6f526c6363;
};

class MeetingRoom {
 public:
  const uint32_t ranks;

  /// Takes those away that have expired, where it is the first in its own. @param seconds that this rank waits, at most
  /// @throws Failure ncclSystemError
  MeetingRoom(const Name& name, uint32_t ranks, uint32_t seconds);
  ~MeetingRoom();
  MeetingRoom(const MeetingRoom&) = delete;
  MeetingRoom& operator=(const MeetingRoom&) = delete;

  MeetingTable& table() { return *table_; }
  /// @return false: it was decided before.
  bool decide(MeetingOutcome::Kind kind, int rank);
  /// From now on for so long.
  void keepFor(uint32_t seconds);
  /// Another rank has taken its seat. Behind the last its name goes, also where it was given up.
  bool isLastToCome();
  /// Unless another room has it by now.
  void takeNameAway() const;

 private:
  const std::string path_;
  const size_t bytes_;
  dev_t device_ = 0;
  ino_t file_ = 0;
  MeetingTable* table_ = nullptr;
};

}  // namespace dfccl::nccl

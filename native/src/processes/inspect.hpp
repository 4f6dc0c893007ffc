#pragma once
// Looks at worlds of processes from outside: who is in them, and what is under way.
#include <cstdint>
#include <string>
#include <vector>

#include "base/types.hpp"
#include "processes/segment.hpp"

namespace dfccl {

struct MemberStatus {
  uint32_t rank;
  bool isRegistered;
  bool hasLeft;  // it has unregistered the collective
  uint64_t submittedRuns;
  uint64_t finishedRuns;
  uint64_t waitingMillis;  // how long its current run has been under way; 0: none is, or not for long
};

struct CollectiveStatus {
  uint32_t id;
  Collective collective;
  DataType type;
  uint64_t count;
  bool isAborted;
  std::vector<MemberStatus> members;
  std::string name{};  // as reports call it, without a character that JSON would escape; "" where nobody has said
};

struct RankStatus {
  uint32_t rank;
  uint32_t pid;
  Presence presence;
};

struct WorldStatus {
  std::string job;
  std::string version;
  uint64_t memoryBytes;  // that the processes share, in use
  std::vector<RankStatus> ranks;
  std::vector<CollectiveStatus> collectives;
};

/// One world, by the memory that its processes share. @throws Error dfcclTimeout as Segment::Lock does.
WorldStatus inspectWorld(Segment& segment);
/// The worlds of all processes that this user may look into. Disturbs them for as long as one registration would.
std::vector<WorldStatus> inspectWorlds();

}  // namespace dfccl

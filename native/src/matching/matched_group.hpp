#pragma once
#include <cstdint>
#include <mutex>
#include <vector>

#include "matching/signature.hpp"

namespace dfccl {

/// One rank's membership in a group of ranks.
struct MatchedGroup {
  GroupId id;
  uint64_t name = 0;            // the caller's, for groups of the same ranks
  std::vector<uint32_t> ranks;  // of the world, in the group's order
  uint32_t member;              // this rank's place in it
  bool isAborted = false;
  uint64_t mostBytesInStreams = 0;   // runs behind streams in which a member receives so few are kernels in them
  uint32_t mostBlocksInStreams = 0;  // of such a kernel; 0: as many as it likes
  bool areForTheirStreams = false;   // what those write is for nobody else, on this rank
  uint64_t splits = 0;               // that were submitted; under `splitting`
  std::mutex splitting;

  uint32_t size() const { return static_cast<uint32_t>(ranks.size()); }
};

}  // namespace dfccl

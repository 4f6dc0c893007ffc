#pragma once
#include <cstdint>
#include <vector>

#include "matching/signature.hpp"

namespace dfccl {

/// One rank's membership in a group of ranks.
struct MatchedGroup {
  GroupId id;
  std::vector<uint32_t> ranks;  // of the world, in the group's order
  uint32_t member;              // this rank's place in it
  bool isAborted = false;
  uint64_t splits = 0;  // by one thread at a time

  uint32_t size() const { return static_cast<uint32_t>(ranks.size()); }
};

}  // namespace dfccl

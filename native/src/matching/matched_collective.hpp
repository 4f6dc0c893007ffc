#pragma once
#include <cstdint>
#include <list>
#include <memory>

#include "matching/matched_group.hpp"
#include "matching/signature.hpp"
#include "world/known_memory.hpp"
#include "world/run_check.hpp"

namespace dfccl {

/// A signature that this rank has registered.
struct MatchedCollective {
  Signature signature;
  std::shared_ptr<MatchedGroup> group;
  uint64_t registration = 0;  // which of this rank's, ever
  uint32_t index = 0;         // of the registration
  uint64_t memoryBytes = 0;   // of the rank's memory for registrations
  RunShape shape;             // without the window that its buffers must lie in:
  uint64_t windowBegin = 0, windowEnd = 0;
  KnownBuffers known;
  uint32_t pins = 0;                              // by callers who are about to submit a run of it, or wait for one
  std::list<MatchedCollective*>::iterator place;  // in the order of use

  /// Of the world, of a message.
  uint32_t receivingRank() const { return group->ranks[signature.receiver]; }
  /// Whether the other ranks reach a buffer where it is; else it is copied to where they do.
  bool isReached(const void* buffer, uint64_t bytes) const {
    const auto address = reinterpret_cast<uint64_t>(buffer);
    return bytes == 0 || (address >= windowBegin && address + bytes <= windowEnd);
  }
};

}  // namespace dfccl

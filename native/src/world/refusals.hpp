#pragma once
// What every world answers to a handle that it can't do as asked with.
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/error.hpp"
#include "world/collective_id.hpp"

namespace dfccl {

/// More bytes than a process has addresses for. Sizes below can be rounded up and multiplied by small numbers.
inline constexpr size_t kMostBytes = size_t{1} << 47;

/// Before a size from outside is rounded up, or added to an address. @throws Error dfcclOutOfMemory
inline void checkAllocation(size_t bytes, size_t most = kMostBytes) {
  if (bytes <= most) return;
  throw Error(dfcclOutOfMemory,
              "A buffer of " + std::to_string(bytes) + " bytes was asked for, and there are never more than " +
                  std::to_string(most) + ".",
              "Use smaller buffers, or join with a larger arenaBytes where the ranks are processes.",
              {{"bytes", std::to_string(bytes)}, {"most", std::to_string(most)}});
}

/// @throws Error dfcclUnknownCollective
[[noreturn]] inline void refuseHandle(uint32_t rank, uint32_t index) {
  throw Error(dfcclUnknownCollective,
              "Rank " + std::to_string(rank) + " has no collective with handle " + std::to_string(index) + ".",
              "Register it first; a handle is void after it is unregistered.",
              {{"rank", std::to_string(rank)}, {"handle", std::to_string(index)}});
}

/// @param runs in flight, so that it can't be unregistered. @throws Error dfcclInUse
[[noreturn]] inline void refuseInFlight(uint32_t rank, const CollectiveId& id, uint64_t runs) {
  throw Error(dfcclInUse,
              "Collective " + id.text() + " has " + std::to_string(runs) + " runs in flight on rank " +
                  std::to_string(rank) + ".",
              "Wait for them, or abort the collective, before you unregister it.",
              {{"id", id.text()}, {"rank", std::to_string(rank)}, {"inFlight", std::to_string(runs)}});
}

}  // namespace dfccl

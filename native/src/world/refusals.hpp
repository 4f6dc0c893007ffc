#pragma once
// What every world answers to a handle that it can't do as asked with.
#include <string>

#include "error.hpp"

namespace dfccl {

/// @throws Error dfcclUnknownCollective
[[noreturn]] inline void refuseHandle(uint32_t rank, uint32_t index) {
  throw Error(dfcclUnknownCollective,
              "Rank " + std::to_string(rank) + " has no collective with handle " + std::to_string(index) + ".",
              "Register it first; a handle is void after it is unregistered.",
              {{"rank", std::to_string(rank)}, {"handle", std::to_string(index)}});
}

/// @param runs in flight, so that it can't be unregistered. @throws Error dfcclInUse
[[noreturn]] inline void refuseInFlight(uint32_t rank, uint32_t id, uint64_t runs) {
  throw Error(dfcclInUse,
              "Collective " + std::to_string(id) + " has " + std::to_string(runs) + " runs in flight on rank " +
                  std::to_string(rank) + ".",
              "Wait for them, or abort the collective, before you unregister it.",
              {{"id", std::to_string(id)}, {"rank", std::to_string(rank)}, {"inFlight", std::to_string(runs)}});
}

}  // namespace dfccl

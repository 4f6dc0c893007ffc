#pragma once
#include <string>

#include "processes/rendezvous.hpp"
#include "world/world.hpp"

namespace dfccl {

/// Meets the other processes of a job, and puts what they share into `options`: the world made of them has this
/// process's rank. @throws Error, as meet() does.
void join(WorldOptions& options, const std::string& job, uint32_t rank, uint32_t timeoutMillis,
          const Atomic<uint32_t>* isCancelled = nullptr);

}  // namespace dfccl

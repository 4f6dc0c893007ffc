#pragma once
#include <string>

#include "network/host_rendezvous.hpp"
#include "world/world_options.hpp"

namespace dfccl {

/// Meets the other processes of a job, and puts what they share into `options`: the world made of them has this
/// process's rank. @param point where processes of several machines meet; null: all are on this one.
/// @throws Error, as meet() and joinHosts() do.
void join(WorldOptions& options, const std::string& job, uint32_t rank, uint32_t timeoutMillis,
          const Atomic<uint32_t>* isCancelled = nullptr, const RendezvousPoint* point = nullptr);

}  // namespace dfccl

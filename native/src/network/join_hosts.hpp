#pragma once
#include "network/host_rendezvous.hpp"
#include "world/world_options.hpp"

namespace dfccl {

/// Meets the job's processes wherever they are, and puts into `options` what this one shares with those on its machine
/// and how it reaches the others. Where all turn out to be on one machine, that is all there is.
/// @throws Error, as openHostRendezvous(), meet() and openUcxTransport() do.
void joinHosts(WorldOptions& options, RendezvousOptions meeting, const RendezvousPoint& point);

}  // namespace dfccl

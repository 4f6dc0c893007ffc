#pragma once
#include <memory>

#include "network/host_rendezvous.hpp"

namespace dfccl::host_rendezvous {

/// Rank 0's.
std::unique_ptr<HostRendezvous> openHostSide(const RendezvousOptions& options, const RendezvousPoint& point);
/// Any other rank's.
std::unique_ptr<HostRendezvous> openGuestSide(const RendezvousOptions& options, const RendezvousPoint& point);

inline constexpr size_t kMostHelloBytes = 4096;
inline constexpr size_t kMostContribution = 64 << 10;

}  // namespace dfccl::host_rendezvous

#pragma once
#include <memory>

#include "network/host_meeting.hpp"

namespace dfccl::host_meeting {

/// Rank 0's.
std::unique_ptr<HostMeeting> openHostSide(const MeetingOptions& options, const MeetingPoint& point);
/// Any other rank's.
std::unique_ptr<HostMeeting> openGuestSide(const MeetingOptions& options, const MeetingPoint& point);

inline constexpr size_t kMostHelloBytes = 4096;
inline constexpr size_t kMostContribution = 64 << 10;

}  // namespace dfccl::host_meeting

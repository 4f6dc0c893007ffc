#pragma once
#include <string>

#include "processes/segment.hpp"

namespace dfccl {

/// Writes the flight record of this process's rank, as it is now.
/// @throws Error as writeFlightRecord(), and as inspectWorld().
void recordFlight(Segment& segment, const std::string& path);

}  // namespace dfccl
